package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// A Class says what kind of hang it is.
type Class string

// The classes of hangs.
const (
	// ProtocolDeadlock: the hardware is empty and ranks wait for each other's credits.
	ProtocolDeadlock Class = "protocol deadlock"
	// RTLStall: the hardware holds packets that it cannot deliver.
	RTLStall Class = "RTL stall"
	// HostBlocked: ranks wait for messages that nobody sends, or for credits of ranks that have finished.
	HostBlocked Class = "host blocked"
	// Slow: the run was still moving when its limit of simulated time came.
	Slow Class = "merely slow, or going round in circles"
)

// A Verdict explains a run that stopped progressing.
type Verdict struct {
	Class    Class        `json:"class"`
	At       drivers.Time `json:"at_ps"`
	Ranks    []RankState  `json:"ranks"` // those that did not finish
	Finished int          `json:"finished"`
	Chain    []string     `json:"wait_for"` // from a rank to what holds it, link by link
	Nodes    []NodeState  `json:"nodes"`
}

// RankState is what one rank did.
type RankState struct {
	Rank, Node, VPID int
	State            string
	Waits            string
	Flow             string // flow-control state towards the peer it waits for
}

// NodeState is what one NIC's queues hold.
type NodeState struct {
	Node        int
	Lines       uint64 // sends waiting in the requester
	RxFlits     uint64 // flits waiting in the completer
	StallVPID   int    // mailbox that holds the completer, -1 if none
	StallCycles uint64
	Fill, Slots uint64 // of that mailbox
}

// explain turns the end of a run without progress into a verdict; other errors
// stay as they are.
func (w *World) explain(err error) error {
	var hang *vtime.HangError
	var limit *vtime.LimitError
	switch {
	case errors.As(err, &hang):
		return w.verdict(err, w.classify(hang), hang.Procs)
	case errors.As(err, &limit):
		return w.verdict(err, Slow, limit.Procs)
	}
	return err
}

// verdict looks at software and hardware after a run stopped.
func (w *World) verdict(cause error, class Class, procs []vtime.ProcState) error {
	v := &Verdict{Class: class, At: w.Kernel.Now()}
	for _, p := range procs {
		if p.State == vtime.Done {
			v.Finished++
			continue
		}
		v.Ranks = append(v.Ranks, w.rankState(p))
	}
	for n := range w.Config.Nodes {
		s, err := w.nodeState(n)
		if err != nil {
			return fmt.Errorf("%w (and the hardware cannot be read: %w)", cause, err)
		}
		v.Nodes = append(v.Nodes, s)
	}
	v.Chain = w.chain(procs, w.fullMailbox(v.Nodes))
	return v
}

func (w *World) rankState(p vtime.ProcState) RankState {
	wait := w.Ranks[p.ID].Waiting()
	s := RankState{Rank: p.ID, Node: p.Node, VPID: p.VPID, State: p.State.String(), Waits: wait.String()}
	if p.State == vtime.AwaitPIO {
		s.Waits = fmt.Sprintf("store to the send window: %d lines posted that the NIC does not take", p.Posted)
	}
	if wait.For == "credits" {
		s.Flow = w.Ranks[p.ID].Endpoint().Describe(wait.Peer)
	}
	return s
}

func (w *World) nodeState(n int) (s NodeState, err error) {
	dev := w.Sys.Device(n)
	read := func(off uint32) (v uint64) {
		if err == nil {
			v, err = dev.ReadReg(off)
		}
		return v
	}
	s = NodeState{Node: n, StallVPID: -1}
	s.Lines = regs.TXLevelLines.Of(read(regs.TXLevel))
	rx := read(regs.RXLevel)
	s.RxFlits = regs.RXLevelVC0.Of(rx) + regs.RXLevelVC1.Of(rx)
	s.StallCycles = read(regs.RXStall)
	if st := read(regs.RXStallVPID); st&regs.RXStallVPIDStalled != 0 {
		vpid := uint8(regs.RXStallVPIDVPID.Of(st))
		s.StallVPID = int(vpid)
		s.Fill = (read(regs.MboxWP(vpid)) - read(regs.MboxRP(vpid))) & 0xffffffff
		s.Slots = read(regs.MboxSlots(vpid))
	}
	return s, err
}

func (w *World) classify(hang *vtime.HangError) Class {
	if !hang.HardwareIdle {
		return RTLStall
	}
	for _, p := range hang.Procs {
		if p.State == vtime.Done {
			continue
		}
		if wait := w.Ranks[p.ID].Waiting(); wait.For == "credits" && hang.Procs[wait.Peer].State != vtime.Done {
			return ProtocolDeadlock
		}
	}
	return HostBlocked
}

// chain follows who waits for whom, from the first rank that waits for another
// until it closes or ends.
func (w *World) chain(procs []vtime.ProcState, full int) (links []string) {
	seen := map[int]bool{}
	for id := firstWaiting(procs); id >= 0 && !seen[id]; {
		seen[id] = true
		link, next := w.link(procs[id], full)
		links = append(links, link)
		if next >= 0 && seen[next] {
			links = append(links, fmt.Sprintf("rank %d: the circle closes", next))
		}
		id = next
	}
	return links
}

func firstWaiting(procs []vtime.ProcState) int {
	for _, p := range procs {
		if p.State != vtime.Done {
			return p.ID
		}
	}
	return -1
}

// link says what one rank waits for and which rank could end that. full is the
// rank whose mailbox holds the network, or -1.
func (w *World) link(p vtime.ProcState, full int) (string, int) {
	wait := w.Ranks[p.ID].Waiting()
	switch {
	case p.State == vtime.Done:
		return fmt.Sprintf("rank %d: finished; it sends nothing more and returns no credits", p.ID), -1
	case p.State == vtime.AwaitPIO:
		if full < 0 {
			return fmt.Sprintf("rank %d: store to the send window blocked; no mailbox is full: the network itself stands still", p.ID), -1
		}
		return fmt.Sprintf("rank %d: store to the send window blocked: the mailbox of rank %d is full and holds the network", p.ID, full), full
	case wait.For == "message" && wait.Peer == host.AnySource:
		return fmt.Sprintf("rank %d: %s", p.ID, wait), -1
	case wait.For == "credits":
		return fmt.Sprintf("rank %d: %s; rank %d must retrieve and return credits", p.ID, wait, wait.Peer), wait.Peer
	}
	return fmt.Sprintf("rank %d: %s", p.ID, wait), wait.Peer
}

// fullMailbox is the rank whose mailbox holds its node's completer, or -1.
func (w *World) fullMailbox(nodes []NodeState) int {
	for _, s := range nodes {
		if s.StallVPID >= 0 {
			return slices.Index(w.Config.addrs(), velo.Addr{Node: s.Node, VPID: s.StallVPID})
		}
	}
	return -1
}

// shownRanks bounds the table of an error text; the JSON form has them all.
const shownRanks = 16

func (v *Verdict) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no progress at %v: %s; %d ranks finished, %d did not\n", v.At, v.Class, v.Finished, len(v.Ranks))
	b.WriteString("who waits for whom:\n")
	for _, l := range v.Chain {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	b.WriteString("ranks:\n")
	for i, r := range v.Ranks {
		if i == shownRanks {
			fmt.Fprintf(&b, "  … and %d more\n", len(v.Ranks)-i)
			break
		}
		fmt.Fprintf(&b, "  rank %-4d node %d vpid %d  %s\n", r.Rank, r.Node, r.VPID, r.Waits)
		if r.Flow != "" {
			fmt.Fprintf(&b, "            %s\n", r.Flow)
		}
	}
	b.WriteString("hardware:\n")
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "  node %d: %d lines to send, %d flits to receive", n.Node, n.Lines, n.RxFlits)
		if n.StallVPID >= 0 {
			fmt.Fprintf(&b, ", mailbox of vpid %d full (%d of %d slots), stalled for %d cycles", n.StallVPID, n.Fill, n.Slots, n.StallCycles)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}
