package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// LinkType is DLT_USER0.
const LinkType = layers.LinkType(147)

// maxPacket is the length at which a packet without a tail is terminated: header, payload, credits,
// tail.
const maxPacket = regs.MTU + 3*regs.FlitBytes

const linkPoints = drivers.PointEject + 1

var pointNames = [linkPoints]string{"inject", "x+", "x-", "y+", "y-", "z+", "z-", "eject"}

// A Writer is a drivers.TraceSink that writes pcapng. Interfaces appear in the order of their first
// packets; node0.inject is always the first.
type Writer struct {
	ng    *pcapgo.NgWriter
	links []link // by node, then point
	tlps  []tlpStream
	err   error
}

type link struct {
	id   int // interface; -1 until its first packet
	open [regs.TorusVCs]partial
}

// partial is a packet whose tail has not passed yet.
type partial struct {
	data []byte
	at   drivers.Cycle // of the last flit
}

// NewWriter starts a capture in w.
func NewWriter(w io.Writer) (*Writer, error) {
	section := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "nicloop"}}
	ng, err := pcapgo.NewNgWriterInterface(w, linkInterface(0, drivers.PointInject), section)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	c := &Writer{ng: ng}
	c.link(0, drivers.PointInject).id = 0
	return c, nil
}

func linkInterface(node, point int) pcapgo.NgInterface {
	return pcapgo.NgInterface{
		Name:     fmt.Sprintf("node%d.%s", node, pointNames[point]),
		LinkType: LinkType, SnapLength: maxPacket,
	}
}

func (c *Writer) link(node, point int) *link {
	i := node*linkPoints + point
	for len(c.links) <= i {
		c.links = append(c.links, link{id: -1})
	}
	return &c.links[i]
}

// Trace implements drivers.TraceSink. Events that are neither flits nor words of TLPs are ignored.
func (c *Writer) Trace(events []drivers.TraceEvent) error {
	for i := range events {
		e := &events[i]
		if e.Point == drivers.PointTLPDown || e.Point == drivers.PointTLPUp {
			if c.err == nil {
				c.tlp(e)
			}
			continue
		}
		if e.Point < linkPoints && int(e.VC) < regs.TorusVCs && c.err == nil {
			c.flit(e)
		}
	}
	return c.err
}

// flit adds a flit to its packet. Flits without a head were in flight when the trace began and are
// ignored.
func (c *Writer) flit(e *drivers.TraceEvent) {
	l := c.link(int(e.Node), int(e.Point))
	p := &l.open[e.VC]
	if e.Flags&drivers.TraceHead != 0 {
		if len(p.data) != 0 {
			c.write(e.Node, e.Point, l, p, false)
		}
	} else if len(p.data) == 0 {
		return
	}
	p.data = binary.LittleEndian.AppendUint64(p.data, e.Data)
	p.at = e.Cycle
	if tail := e.Flags&drivers.TraceTail != 0; tail || len(p.data) >= maxPacket {
		c.write(e.Node, e.Point, l, p, tail)
	}
}

func (c *Writer) write(node uint16, point uint8, l *link, p *partial, whole bool) {
	if c.err != nil {
		return
	}
	if l.id < 0 {
		l.id, c.err = c.ng.AddInterface(linkInterface(int(node), int(point)))
		if c.err != nil {
			return
		}
	}
	length := len(p.data)
	if !whole { // Wireshark shows the missing bytes as not captured
		length = max(length, flit.Total(regs.Header(binary.LittleEndian.Uint64(p.data)))*regs.FlitBytes)
	}
	c.err = c.ng.WritePacket(gopacket.CaptureInfo{
		Timestamp:      time.Unix(0, int64(p.at)*regs.ClockPS/1000),
		InterfaceIndex: l.id, CaptureLength: len(p.data), Length: length,
	}, p.data)
	p.data = p.data[:0]
}

// Close writes the incomplete packets in order of node, point and virtual channel, and flushes.
func (c *Writer) Close() error {
	for i := range c.links {
		for vc := range c.links[i].open {
			if p := &c.links[i].open[vc]; len(p.data) > 0 {
				c.write(uint16(i/linkPoints), uint8(i%linkPoints), &c.links[i], p, false)
			}
		}
	}
	if err := c.ng.Flush(); c.err == nil {
		c.err = err
	}
	if c.err != nil {
		return fmt.Errorf("capture: %w", c.err)
	}
	return nil
}
