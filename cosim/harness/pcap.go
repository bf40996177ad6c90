package harness

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/nicloop/nicloop/cosim/design"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/userfile"
)

// maxFrame ends a frame whose TLAST does not come.
const maxFrame = 1 << 16

// A frameWriter is a drivers.TraceSink that writes the frames that nodes send on their streams as
// Ethernet, to pcapng: an interface per node. Beats are cut by TLAST and TKEEP; without TLAST every
// beat is a frame.
type frameWriter struct {
	next    drivers.TraceSink // may be nil
	layout  design.StreamLayout
	clockPS int
	file    *os.File
	out     *bufio.Writer
	ng      *pcapgo.NgWriter
	nodes   []openFrame
}

// openFrame is a frame whose last beat has not been sent.
type openFrame struct {
	word  []uint64
	bytes []byte
}

func newFrameWriter(name string, nodes int, layout design.StreamLayout, clockPS int, next drivers.TraceSink) (*frameWriter, error) {
	file, err := userfile.Create(name, true)
	if err != nil {
		return nil, fmt.Errorf("%w: pcap: %w", drivers.ErrEnvironment, err)
	}
	w := &frameWriter{next: next, layout: layout, clockPS: clockPS, file: file, out: bufio.NewWriter(file), nodes: make([]openFrame, nodes)}
	section := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "nicloop"}}
	if w.ng, err = pcapgo.NewNgWriterInterface(w.out, frameInterface(0), section); err != nil {
		return nil, userfile.Close(file, err)
	}
	for n := 1; n < nodes; n++ {
		if _, err := w.ng.AddInterface(frameInterface(n)); err != nil {
			return nil, userfile.Close(file, err)
		}
	}
	return w, nil
}

func frameInterface(node int) pcapgo.NgInterface {
	return pcapgo.NgInterface{Name: fmt.Sprintf("node%d", node), LinkType: layers.LinkTypeEthernet, SnapLength: maxFrame, TimestampResolution: 9}
}

func (w *frameWriter) Trace(events []drivers.TraceEvent) error {
	for i := range events {
		e := &events[i]
		if e.Point != drivers.PointStreamOut || int(e.Node) >= len(w.nodes) {
			continue
		}
		f := &w.nodes[e.Node]
		if e.Flags&drivers.TraceHead != 0 {
			f.word = f.word[:0]
		}
		f.word = append(f.word, e.Data)
		if e.Flags&drivers.TraceTail == 0 {
			continue
		}
		if err := w.beat(int(e.Node), f, e.Cycle); err != nil {
			return err
		}
	}
	if w.next != nil {
		return w.next.Trace(events)
	}
	return nil
}

// bit is one bit of a word in parts of 64.
func bit(word []uint64, i int) bool { return i/64 < len(word) && word[i/64]>>(i%64)&1 != 0 }

// beat adds the bytes of a beat, and writes the frame if it is the last one.
func (w *frameWriter) beat(node int, f *openFrame, at drivers.Cycle) error {
	l := &w.layout
	for i := range l.DataBits / 8 {
		if l.KeepBits > 0 && !bit(f.word, l.KeepLSB+i) {
			continue
		}
		var b byte
		for n := range 8 {
			if bit(f.word, l.DataLSB+8*i+n) {
				b |= 1 << n
			}
		}
		f.bytes = append(f.bytes, b)
	}
	if l.LastBit >= 0 && !bit(f.word, l.LastBit) && len(f.bytes) < maxFrame {
		return nil
	}
	err := w.ng.WritePacket(gopacket.CaptureInfo{
		Timestamp:      time.Unix(0, int64(at)*int64(w.clockPS)/1000),
		InterfaceIndex: node, CaptureLength: len(f.bytes), Length: len(f.bytes),
	}, f.bytes)
	f.bytes = f.bytes[:0]
	return err
}

// discard removes the capture of a system that has not started because of err.
func (w *frameWriter) discard(err error) error {
	if w == nil {
		return err
	}
	return userfile.Close(w.file, err)
}

func (w *frameWriter) close() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.ng.Flush(), w.out.Flush(), w.file.Close())
}
