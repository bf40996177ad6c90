package capture

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// TLPLinkType is DLT_USER1: PCIe transaction layer packets between a NIC and its root complex. The
// bytes are in PCIe transmission order: the header from byte 0, then the payload in order of
// addresses.
const TLPLinkType = layers.LinkType(148)

// maxTLP is the length at which a TLP without an end is terminated.
const maxTLP = 4*4 + 4096 + 4

var tlpNames = [2]string{"pcie.down", "pcie.up"}

// A tlpStream is one direction of one node's PCIe link.
type tlpStream struct {
	id     int // interface; -1 until its first TLP
	data   []byte
	header int // length of the header
}

// tlp adds a word to its TLP, and writes the TLP when it is complete.
func (c *Writer) tlp(e *drivers.TraceEvent) {
	i := 2*int(e.Node) + int(e.Point-drivers.PointTLPDown)
	for len(c.tlps) <= i {
		c.tlps = append(c.tlps, tlpStream{id: -1})
	}
	s := &c.tlps[i]
	if e.Flags&drivers.TraceHead != 0 {
		s.data, s.header = s.data[:0], 12
		if e.Data>>29&1 != 0 {
			s.header = 16
		}
	} else if len(s.data) == 0 {
		return // in flight when the trace began
	}
	s.add(uint32(e.Data))
	if e.VC&1 != 0 {
		s.add(uint32(e.Data >> 32))
	}
	if e.Flags&drivers.TraceTail != 0 || len(s.data) >= maxTLP {
		c.writeTLP(s, int(e.Node), int(e.Point-drivers.PointTLPDown), e.Cycle)
	}
}

func (s *tlpStream) add(dword uint32) {
	if len(s.data) < s.header {
		s.data = binary.BigEndian.AppendUint32(s.data, dword)
		return
	}
	s.data = binary.LittleEndian.AppendUint32(s.data, dword)
}

func (c *Writer) writeTLP(s *tlpStream, node, direction int, at drivers.Cycle) {
	if s.id < 0 {
		s.id, c.err = c.ng.AddInterface(pcapgo.NgInterface{
			Name: fmt.Sprintf("node%d.%s", node, tlpNames[direction]), LinkType: TLPLinkType, SnapLength: maxTLP,
		})
	}
	if c.err == nil {
		c.err = c.ng.WritePacket(gopacket.CaptureInfo{
			Timestamp:      time.Unix(0, int64(at)*regs.ClockPS/1000),
			InterfaceIndex: s.id, CaptureLength: len(s.data), Length: len(s.data),
		}, s.data)
	}
	s.data = s.data[:0]
}
