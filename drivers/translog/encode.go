package translog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
)

// FormatVersion is the version of the logs that this package writes. It also reads version 1, which
// has fewer kinds, and version 2, where all nodes have the same segments.
const FormatVersion = 3

const magic = "NICLOG"

// Meta is the header of a log.
type Meta struct {
	Info drivers.Info `json:"info"`
	// Timed: the log of a Timed system. Ordered: the log of a system without recorded times, with
	// its waits and all changes of memory. Neither: the log of a single Device, node 0.
	Timed   bool `json:"timed"`
	Ordered bool `json:"ordered,omitempty"`
	// Partial: the log has only the memory that software has fetched, as from a board behind a
	// serial line.
	Partial bool `json:"partial,omitempty"`
	// Memory is the size of each node's memory in bytes.
	Memory []int `json:"memory"`
	// Segments are the segments of each node's memory; none: device addresses start at 0.
	Segments [][]drivers.Segment `json:"segments_by_node,omitempty"`
	// Registers is Info.Registers, which is not part of the JSON of Info. NewWriter sets it.
	Registers *regmap.Map `json:"registers,omitempty"`
}

// A Writer writes a log. Close returns the first error.
type Writer struct {
	w     io.Writer
	buf   []byte
	now   drivers.Cycle
	crc   uint32
	count uint64
	err   error
}

const bufferSize = 64 << 10

// NewWriter starts a log in w.
func NewWriter(w io.Writer, m Meta) *Writer {
	out := &Writer{w: w, buf: make([]byte, 0, bufferSize+4096)}
	m.Registers = m.Info.Registers
	head, err := json.Marshal(m)
	if err != nil {
		out.err = fmt.Errorf("transaction log: %w", err)
	}
	out.buf = append(out.buf, magic...)
	out.buf = binary.LittleEndian.AppendUint16(out.buf, FormatVersion)
	out.bytes(head)
	return out
}

// Append writes one operation.
func (w *Writer) Append(o *Op) {
	w.count++
	w.buf = append(w.buf, byte(o.Kind))
	switch o.Kind {
	case PostReg:
		w.node(o)
		w.cycle(o.At)
		w.uints(o.Off, o.Value)
	case PostPIO:
		w.node(o)
		w.cycle(o.At)
		w.uints(o.Off)
		w.bytes(o.Data)
	case ReadReg:
		w.node(o)
		w.uints(o.Off, o.Value)
		w.time(o.Stop.Now)
		w.failure(o.Err)
	case PIOTaken:
		w.node(o)
		w.uints(uint64(o.VPID), o.Value)
	case Watch:
		w.node(o)
		w.uints(o.Off, o.Len, uint64(o.ID))
		w.failure(o.Err)
	case Arm:
		w.uints(uint64(o.ID))
	case ArmPIO:
		w.node(o)
		w.uints(uint64(o.VPID), o.Value)
	case ArmIRQ:
		w.node(o)
	case Run:
		w.cycle(o.At)
		w.stop(&o.Stop)
		w.failure(o.Err)
	case Await, Wait:
		w.node(o)
		w.uints(o.Off, o.Len)
		w.failure(o.Err)
	case Memory, Store, Changed:
		w.node(o)
		w.uints(o.Off)
		w.bytes(o.Data)
	case WriteReg:
		w.node(o)
		w.uints(o.Off, o.Value)
		w.failure(o.Err)
	case WritePIO:
		w.node(o)
		w.uints(o.Off)
		w.bytes(o.Data)
		w.failure(o.Err)
	default:
		panic(fmt.Sprintf("translog: Append of %v", o.Kind))
	}
	if len(w.buf) >= bufferSize {
		w.flush()
	}
}

func (w *Writer) node(o *Op) { w.uints(uint64(o.Node)) }

func (w *Writer) uints(list ...uint64) {
	for _, v := range list {
		w.buf = binary.AppendUvarint(w.buf, v)
	}
}

func (w *Writer) bytes(b []byte) {
	w.uints(uint64(len(b)))
	w.buf = append(w.buf, b...)
}

// cycle writes a difference with wrap-around, so that Forever is short, too.
func (w *Writer) cycle(c drivers.Cycle) { w.buf = binary.AppendVarint(w.buf, int64(c-w.now)) }

func (w *Writer) time(now drivers.Cycle) {
	w.cycle(now)
	w.now = now
}

func (w *Writer) stop(s *drivers.Stop) {
	w.time(s.Now)
	flags := uint64(0)
	if s.Quiet {
		flags |= 1
	}
	if s.Idle {
		flags |= 2
	}
	w.uints(flags, uint64(len(s.Fired)))
	for _, f := range s.Fired {
		w.uints(uint64(f.Kind), uint64(f.Node), uint64(f.Watch), uint64(f.VPID))
	}
}

func (w *Writer) failure(f *Failure) {
	if f == nil {
		w.uints(0)
		return
	}
	w.uints(1, uint64(f.Class))
	w.bytes([]byte(f.Text))
	w.uints(uint64(len(f.Bus)))
	for _, e := range f.Bus {
		write := uint64(0)
		if e.Write {
			write = 1
		}
		w.uints(uint64(e.Node), uint64(e.Off), write, uint64(e.Resp))
		w.bytes([]byte(e.Port))
	}
	w.uints(uint64(len(f.DMA)))
	for _, e := range f.DMA {
		w.uints(uint64(e.Node), e.Addr, e.Bytes, e.Memory)
	}
}

func (w *Writer) flush() {
	w.crc = crc32.Update(w.crc, crc32.IEEETable, w.buf)
	if w.err == nil {
		if _, err := w.w.Write(w.buf); err != nil {
			w.err = fmt.Errorf("transaction log: %w", err)
		}
	}
	w.buf = w.buf[:0]
}

// Flush writes everything appended so far to the file, so that a log is readable up to here if it
// is not closed.
func (w *Writer) Flush() { w.flush() }

// Err returns the first error of writing.
func (w *Writer) Err() error { return w.err }

// Close ends the log.
func (w *Writer) Close() error {
	w.flush()
	sum := w.crc
	w.buf = append(w.buf, byte(End))
	w.uints(w.count)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, sum)
	w.flush()
	return w.err
}
