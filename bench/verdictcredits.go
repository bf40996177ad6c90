package bench

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// LostCredits are missing credits: the sender of a channel does not have them, and no flit is
// buffered for them.
type LostCredits struct {
	Node int `json:"node"`
	Port int `json:"port"` // of its router: 0 is the input from the NIC, others are links
	VC   int `json:"vc"`
	// Peer is the node whose router has the buffer; the same node for port 0.
	Peer     int    `json:"peer"`
	Have     uint64 `json:"credits"`
	Buffered uint64 `json:"buffered"`
	Depth    uint64 `json:"of"`
}

var linkNames = [links]string{"+X", "-X", "+Y", "-Y", "+Z", "-Z"}

func (l LostCredits) String() string {
	if l.Port == 0 {
		return fmt.Sprintf("credits lost: router of node %d, port 0 (from the NIC), VC %d: the sender has %d of %d, no flit is buffered", l.Node, l.VC, l.Have, l.Depth)
	}
	return fmt.Sprintf("credits lost: router of node %d, port %d (%s, to node %d), VC %d: the sender has %d of %d, %d flits are buffered at the receiver, %d credits are missing",
		l.Node, l.Port, linkNames[l.Port-1], l.Peer, l.VC, l.Have, l.Depth, l.Buffered, l.Depth-l.Have-l.Buffered)
}

// A portLevel holds the credits and flits of a router port with a working link.
type portLevel struct{ credits, flits [regs.TorusVCs]uint64 }

// lostOnLinks finds credits lost between routers. The network is at rest, so each credit that the
// sender of a link does not have must correspond to a flit at its receiver. Links that do not work
// or cannot be read are skipped.
func (w *World) lostOnLinks() (lost []LostCredits, err error) {
	info := w.Sys.Info()
	params, err := w.Sys.Device(0).ReadReg(regs.Params)
	if err != nil {
		return nil, err
	}
	depth, vcs, torus := regs.ParamsVCDepth.Of(params), regs.VCs, params&regs.ParamsTorus != 0
	if torus {
		vcs = regs.TorusVCs
	}
	levels := map[[2]int]portLevel{}
	for n := range info.Nodes {
		for link := range int(machine.LinksOf(info.Dims)) {
			l, ok, err := portLevelOf(w.Sys.Device(n), uint8(link))
			if err != nil {
				return nil, err
			}
			if ok {
				levels[[2]int{n, link}] = l
			}
		}
	}
	for n := range info.Nodes {
		for link := range int(machine.LinksOf(info.Dims)) {
			peer := neighbour(info.Dims, torus, n, link)
			here, ok := levels[[2]int{n, link}]
			there, works := levels[[2]int{peer, link ^ 1}]
			for vc := 0; ok && works && vc < vcs; vc++ {
				if have, buffered := here.credits[vc], there.flits[vc]; have+buffered < depth {
					lost = append(lost, LostCredits{Node: n, Port: link + 1, VC: vc, Peer: peer, Have: have, Buffered: buffered, Depth: depth})
				}
			}
		}
	}
	return lost, nil
}

// portLevelOf reads WIRE_CREDITS and WIRE_FLITS, which exist in simulations only.
func portLevelOf(dev drivers.Device, link uint8) (l portLevel, ok bool, err error) {
	const works = regs.LinkStatusConnected | regs.LinkStatusCarrier | regs.LinkStatusAgreed
	var bus *drivers.BusError
	status, err := dev.ReadReg(regs.LinkStatus(link))
	if err != nil || status&(works|regs.LinkStatusDead) != works {
		if errors.As(err, &bus) {
			err = nil
		}
		return l, false, err
	}
	for _, level := range []struct {
		off uint32
		of  *[regs.TorusVCs]uint64
	}{{regs.WireCredits(link), &l.credits}, {regs.WireFlits(link), &l.flits}} {
		v, err := dev.ReadReg(level.off)
		if err != nil {
			if errors.As(err, &bus) {
				err = nil
			}
			return l, false, err
		}
		for vc := range level.of {
			level.of[vc] = v >> (8 * vc) & 0xff
		}
	}
	return l, true, nil
}

// neighbour returns the node at the other end of a link of a mesh or torus; -1: none.
func neighbour(dims [3]int, torus bool, node, link int) int {
	step := 1
	for d := range link / 2 {
		step *= dims[d]
	}
	size := dims[link/2]
	at := node / step % size
	to := at + 1 - 2*(link%2)
	if to < 0 || to >= size {
		if !torus || size <= 2 {
			return -1
		}
		to = (to + size) % size
	}
	return node + (to-at)*step
}
