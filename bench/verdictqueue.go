package bench

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Held is a queue of a NIC that is not empty and does not move.
type Held struct {
	Queue string `json:"queue"` // the instance, below the node
	Holds string `json:"holds"`
	Why   string `json:"why"`
}

// rmaUnits lists the units that write notifications, in the order of RMA_LEVEL.stalled.
var rmaUnits = [...]string{"u_nic.u_rma.u_requester", "u_nic.u_rma.u_responder", "u_nic.u_rma.u_completer", "u_nic.u_rma.u_answers"}

// levels holds the registers with the fill levels of a NIC's queues.
type levels struct {
	tx, rx, rma, ring, params uint64
}

// held adds the non-empty queues of a node, from the bus to the network and back. It returns lost
// credits; idle means that no flit can be using them.
func (s *NodeState) held(l levels, idle bool) (lost []LostCredits) {
	add := func(queue, why, holds string, args ...any) {
		s.Held = append(s.Held, Held{queue, fmt.Sprintf(holds, args...), why})
	}
	depth := regs.ParamsVCDepth.Of(l.params)
	credits := [...]uint64{regs.TXLevelCredits0.Of(l.tx), regs.TXLevelCredits1.Of(l.tx), regs.TXLevelCredits2.Of(l.tx)}
	mailbox, ring := "", ""
	if s.StallVPID >= 0 {
		mailbox = fmt.Sprintf("the mailbox of vpid %d is full", s.StallVPID)
	}
	if l.ring&regs.RMAStallVPIDStalled != 0 {
		ring = fmt.Sprintf("the notification ring of vpid %d is full", regs.RMAStallVPIDVPID.Of(l.ring))
	}
	network := func(vc int) string {
		if credits[vc] == 0 {
			return fmt.Sprintf("no credit of VC %d into the network", vc)
		}
		return fmt.Sprintf("it has %d credits of VC %d, so it is blocked before the router", credits[vc], vc)
	}
	if s.Lines > 0 {
		add("u_nic.u_requester.u_lines", network(0), "%d lines", s.Lines)
	}
	if n := regs.RMALevelDescriptors.Of(l.rma); n > 0 {
		why := ring
		if why == "" {
			why = network(1)
		}
		add("u_nic.u_rma.u_window", why, "descriptors of %d processes", n)
	}
	for i, unit := range rmaUnits {
		if regs.RMALevelStalled.Of(l.rma)>>i&1 != 0 {
			add(unit, ring, "a notification")
		}
	}
	for vc, have := range credits {
		switch taken := depth - min(depth, have); {
		case taken == 0:
		case idle:
			lost = append(lost, LostCredits{Node: s.Node, Peer: s.Node, VC: vc, Have: have, Depth: depth})
		default:
			add("u_nic.u_router.g_in[0].u_input", "their router outputs are blocked", "%d flits from the NIC, VC %d", taken, vc)
		}
	}
	for vc, n := range [...]uint64{regs.RXLevelVC0.Of(l.rx), regs.RXLevelVC1.Of(l.rx), regs.RXLevelVC2.Of(l.rx)} {
		why := ring
		if vc == 0 {
			why = mailbox
		}
		if n > 0 {
			add("u_nic.u_eject", why, "%d flits to the NIC, VC %d", n, vc)
		}
	}
	return lost
}

// deadLinks adds links that transfer nothing.
func (w *World) deadLinks(s *NodeState, dev drivers.Device) {
	for l := range machine.LinksOf(w.Sys.Info().Dims) {
		v, err := dev.ReadReg(regs.LinkStatus(l))
		if err != nil || v&regs.LinkStatusConnected == 0 { // a device without links
			continue
		}
		queue := fmt.Sprintf("u_nic.g_link[%d].u_link", l)
		switch {
		case v&regs.LinkStatusCarrier == 0:
			s.Held = append(s.Held, Held{queue, "packets for this link", "no carrier"})
		case v&regs.LinkStatusDead != 0:
			s.Held = append(s.Held, Held{queue, "packets for this link", "dead: its words are not acknowledged"})
		}
	}
}

// printHeld prints the blocked queues and the lost credits.
func (v *Verdict) printHeld(b *strings.Builder) {
	for _, l := range v.Lost {
		fmt.Fprintf(b, "%v\n", l)
	}
	for _, n := range v.Nodes {
		for _, h := range n.Held {
			fmt.Fprintf(b, "  node %d %s: %s", n.Node, h.Queue, h.Holds)
			if h.Why != "" {
				fmt.Fprintf(b, "; %s", h.Why)
			}
			b.WriteByte('\n')
		}
	}
}
