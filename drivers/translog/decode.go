package translog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Limits of the values in a log.
const (
	maxNodes  = 1 << 16
	maxMemory = 16 << 30 // total of all nodes
)

// A Reader reads a log from memory.
type Reader struct {
	Meta  Meta
	data  []byte
	at    int
	now   drivers.Cycle
	count uint64
	kinds Kind // number of kinds in the log's version
	err   error
}

// NewReader reads the header of a log.
func NewReader(data []byte) (*Reader, error) {
	r := &Reader{data: data}
	const head = len(magic) + 2
	if len(data) < head || string(data[:len(magic)]) != magic {
		return nil, &FormatError{0, fmt.Sprintf("expected a log that begins with %q; found %q", magic, data[:min(len(data), len(magic))])}
	}
	v := binary.LittleEndian.Uint16(data[len(magic):])
	switch v {
	case 1:
		r.kinds = first2
	case 2, FormatVersion:
		r.kinds = kinds
	default:
		return nil, &FormatError{len(magic), fmt.Sprintf("log of format version %d; this program reads versions 1 to %d", v, FormatVersion)}
	}
	r.at = head
	text := r.bytes("the description of the recorded system")
	if r.err != nil {
		return nil, r.err
	}
	err := json.Unmarshal(text, &r.Meta)
	if err == nil && v < FormatVersion {
		err = r.olderSegments(text)
	}
	if err != nil {
		return nil, &FormatError{r.at - len(text), "description of the recorded system: " + err.Error()}
	}
	r.Meta.Info.Registers = r.Meta.Registers
	return r, r.checkMeta()
}

// olderSegments copies the segments of a log before version 3, which apply to all nodes.
func (r *Reader) olderSegments(text []byte) error {
	var old struct {
		Segments []drivers.Segment `json:"segments"`
	}
	if err := json.Unmarshal(text, &old); err != nil || old.Segments == nil {
		return err
	}
	r.Meta.Segments = slices.Repeat([][]drivers.Segment{old.Segments}, min(max(r.Meta.Info.Nodes, 0), maxNodes))
	return nil
}

func (r *Reader) checkMeta() error {
	m := &r.Meta
	if m.Info.Nodes < 1 || m.Info.Nodes > maxNodes || len(m.Memory) != m.Info.Nodes {
		return &FormatError{r.at, fmt.Sprintf("log of %d nodes with %d memories; expected 1..%d nodes and as many memories", m.Info.Nodes, len(m.Memory), maxNodes)}
	}
	room := maxMemory
	for _, size := range m.Memory {
		if size < 0 || size > room {
			return &FormatError{r.at, fmt.Sprintf("log of a memory of %d bytes; expected 0..%d in all", size, maxMemory)}
		}
		room -= size
	}
	if m.Segments != nil && len(m.Segments) != m.Info.Nodes {
		return &FormatError{r.at, fmt.Sprintf("log of segments of %d nodes; expected those of %d", len(m.Segments), m.Info.Nodes)}
	}
	for n, list := range m.Segments {
		for _, g := range list {
			if size := uint64(m.Memory[n]); g.Off > size || g.Bytes > size-g.Off {
				return &FormatError{r.at, fmt.Sprintf("log of a segment of %d bytes at 0x%x; expected it inside a memory of %d", g.Bytes, g.Off, size)}
			}
		}
	}
	return nil
}

// Next decodes the next operation into o, whose slices it reuses or points into the log. At the end
// of a complete log it returns io.EOF.
func (r *Reader) Next(o *Op) error {
	if r.err != nil {
		return r.err
	}
	start := r.at
	*o = Op{Now: r.now, Registers: r.Meta.Registers, Stop: drivers.Stop{Fired: o.Stop.Fired[:0]}}
	if r.at == len(r.data) {
		return r.fail(start, "the log ends without an end mark: its recording was cut off")
	}
	o.Kind = Kind(r.data[r.at])
	r.at++
	if o.Kind >= r.kinds {
		return r.fail(start, fmt.Sprintf("operation of kind %d; expected less than %d", o.Kind, r.kinds))
	}
	r.fields(o)
	if r.err != nil {
		return r.err
	}
	if o.Kind == End {
		return r.end(start, o.Value)
	}
	r.count++
	return nil
}

// Count returns the number of operations read.
func (r *Reader) Count() uint64 { return r.count }

func (r *Reader) fields(o *Op) {
	switch o.Kind {
	case End:
		o.Value = r.uint()
	case PostReg:
		o.Node, o.At, o.Off, o.Value = r.node(), r.cycle(), r.offset(), r.uint()
	case PostPIO:
		o.Node, o.At, o.Off, o.Data = r.node(), r.cycle(), r.offset(), r.bytes("a line")
	case ReadReg:
		o.Node, o.Off, o.Value = r.node(), r.offset(), r.uint()
		o.Stop.Now = r.time()
		o.Err = r.failure()
	case PIOTaken, ArmPIO:
		o.Node, o.VPID, o.Value = r.node(), r.vpid(), r.uint()
	case Watch:
		// The log may have a refused watch of a node that does not exist.
		o.Node, o.Off, o.Len, o.ID = int(r.below(1<<31, "node")), r.uint(), r.uint(), r.watch()
		o.Err = r.failure()
	case Arm:
		o.ID = r.watch()
	case ArmIRQ:
		o.Node = r.node()
	case Run:
		o.At = r.cycle()
		r.stop(&o.Stop)
		o.Err = r.failure()
	case Await, Wait:
		o.Node, o.Off, o.Len = r.node(), r.uint(), r.uint()
		o.Err = r.failure()
	case Memory, Store, Changed:
		o.Node, o.Off = r.node(), r.uint()
		o.Data = r.bytes("memory")
		if size := uint64(r.Meta.Memory[o.Node]); r.err == nil && (o.Off > size || uint64(len(o.Data)) > size-o.Off) {
			r.fail(r.at, fmt.Sprintf("%d bytes written at 0x%x, outside a memory of 0x%x bytes", len(o.Data), o.Off, size))
		}
	case WriteReg:
		o.Node, o.Off, o.Value = r.node(), r.offset(), r.uint()
		o.Err = r.failure()
	case WritePIO:
		o.Node, o.Off, o.Data = r.node(), r.offset(), r.bytes("a line")
		o.Err = r.failure()
	}
}

func (r *Reader) end(start int, count uint64) error {
	if len(r.data)-r.at < 4 {
		return r.fail(r.at, "cut off inside the end mark")
	}
	sum := binary.LittleEndian.Uint32(r.data[r.at:])
	if want := crc32.ChecksumIEEE(r.data[:start]); sum != want || count != r.count {
		return r.fail(start, fmt.Sprintf("end mark of %d operations with CRC 0x%08x; found %d with CRC 0x%08x", count, sum, r.count, want))
	}
	if r.at += 4; r.at != len(r.data) {
		return r.fail(r.at, fmt.Sprintf("%d bytes behind the end mark", len(r.data)-r.at))
	}
	r.err = io.EOF
	return io.EOF
}

// fail records the first error.
func (r *Reader) fail(at int, problem string) error {
	if r.err == nil {
		r.err = &FormatError{at, problem}
	}
	return r.err
}

func (r *Reader) uint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.fail(r.at, cut(n))
		return 0
	}
	r.at += n
	return v
}

func (r *Reader) int() int64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Varint(r.data[r.at:])
	if n <= 0 {
		r.fail(r.at, cut(n))
		return 0
	}
	r.at += n
	return v
}

func cut(n int) string {
	if n == 0 {
		return "cut off inside an operation"
	}
	return "number of more than 64 bits"
}

// below reads a number that must be less than end.
func (r *Reader) below(end uint64, what string) uint64 {
	at := r.at
	v := r.uint()
	if r.err == nil && v >= end {
		r.fail(at, fmt.Sprintf("%s %d; expected less than %d", what, v, end))
		return 0
	}
	return v
}

func (r *Reader) node() int { return int(r.below(uint64(len(r.Meta.Memory)), "node")) }

func (r *Reader) vpid() int { return int(r.below(regs.VPIDs, "VPID")) }

func (r *Reader) watch() drivers.WatchID { return drivers.WatchID(r.below(1<<31, "watch")) }

func (r *Reader) offset() uint64 { return r.below(1<<32, "offset") }

func (r *Reader) cycle() drivers.Cycle { return r.now + drivers.Cycle(r.int()) }

func (r *Reader) time() drivers.Cycle {
	r.now = r.cycle()
	return r.now
}

func (r *Reader) bytes(what string) []byte {
	at := r.at
	n := r.uint()
	if r.err == nil && n > uint64(len(r.data)-r.at) {
		r.fail(at, fmt.Sprintf("cut off inside %s of %d bytes", what, n))
	}
	if r.err != nil {
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at : r.at]
}

func (r *Reader) stop(s *drivers.Stop) {
	s.Now = r.time()
	flags := r.below(4, "flags of a stop")
	s.Quiet, s.Idle = flags&1 != 0, flags&2 != 0
	for range r.uint() {
		f := drivers.Fired{
			Kind: drivers.FiredKind(r.below(uint64(drivers.FiredIRQ)+1, "kind of stop")), Node: r.node(), Watch: r.watch(), VPID: r.vpid(),
		}
		if r.err != nil {
			return
		}
		s.Fired = append(s.Fired, f)
	}
}

func (r *Reader) failure() *Failure {
	if r.below(2, "error flag") == 0 {
		return nil
	}
	f := &Failure{Class: uint8(r.below(uint64(len(classes))+1, "error class"))}
	f.Text = string(r.bytes("an error's text"))
	for range r.uint() {
		e := drivers.BusError{Node: r.node(), Off: uint32(r.offset()), Write: r.below(2, "write flag") == 1, Resp: int(r.below(4, "response"))}
		e.Port = string(r.bytes("a port's name"))
		if r.err != nil {
			return f
		}
		f.Bus = append(f.Bus, e)
	}
	for range r.uint() {
		e := drivers.DMAError{Node: r.node(), Addr: r.uint(), Bytes: r.uint(), Memory: r.uint()}
		if r.err != nil {
			return f
		}
		f.DMA = append(f.DMA, e)
	}
	return f
}

func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
