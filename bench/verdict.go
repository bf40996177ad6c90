package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// A Class is a kind of hang.
type Class string

// The classes of hangs.
const (
	// ProtocolDeadlock: the hardware is empty and ranks wait for each other's credits.
	ProtocolDeadlock Class = "protocol deadlock"
	// RTLStall: the hardware holds packets that it cannot deliver.
	RTLStall Class = "RTL stall"
	// HostBlocked: ranks wait for messages that no rank sends, or for credits of ranks that have
	// finished.
	HostBlocked Class = "host blocked"
	// Limited: the run was still making progress at its limit of simulated time. That is no hang.
	Limited Class = "limit of simulated time reached"
)

// A Verdict explains why a run stopped making progress.
type Verdict struct {
	Class    Class        `json:"class"`
	At       drivers.Time `json:"at_ps"`
	Ranks    []RankState  `json:"ranks"` // those that did not finish
	Finished int          `json:"finished"`
	Chain    []string     `json:"wait_for"` // wait-for chain, beginning at a rank
	Nodes    []NodeState  `json:"nodes"`
	// Lost lists credits that are neither with a sender nor behind buffered flits.
	Lost []LostCredits `json:"lost_credits,omitempty"`
	// Unmatched lists messages that have arrived and that no receive matches.
	Unmatched []Unmatched  `json:"unmatched"`
	Limit     drivers.Time `json:"limit_ps,omitempty"` // if Class is Limited
}

// Unmatched is a message for which a rank has posted no receive.
type Unmatched struct {
	Rank int `json:"rank"`
	host.Unmatched
}

// RankState is the state of a rank.
type RankState struct {
	Rank  int    `json:"rank"`
	Node  int    `json:"node"`
	VPID  int    `json:"vpid"`
	State string `json:"state"`
	Waits string `json:"waits"`
	Flow  string `json:"flow_control,omitempty"` // its state for the peer that the rank waits for
	Long  string `json:"rendezvous,omitempty"`   // state of the message's rendezvous
}

// NodeState is the state of a NIC's queues.
type NodeState struct {
	Node        int    `json:"node"`
	Lines       uint64 `json:"tx_lines"`   // sends waiting in the requester
	RxFlits     uint64 `json:"rx_flits"`   // flits waiting in the completer
	StallVPID   int    `json:"stall_vpid"` // mailbox that stalls the completer, -1 if none
	StallCycles uint64 `json:"stall_cycles"`
	Fill        uint64 `json:"mailbox_fill"` // of that mailbox
	Slots       uint64 `json:"mailbox_slots"`
	Held        []Held `json:"held,omitempty"` // queues that are blocked
}

// explain turns the end of a run without progress into a verdict; other errors are returned
// unchanged.
func (w *World) explain(err error) error {
	var hang *vtime.HangError
	var limit *vtime.LimitError
	switch {
	case errors.As(err, &hang):
		return w.verdict(err, w.classify(hang), hang.Procs, hang.HardwareIdle)
	case errors.As(err, &limit):
		return w.verdict(err, Limited, limit.Procs, false)
	}
	return err
}

// verdict inspects software and hardware after a run has stopped.
func (w *World) verdict(cause error, class Class, procs []vtime.ProcState, idle bool) error {
	v := &Verdict{Class: class, At: w.Kernel.Now()}
	if class == Limited {
		v.Limit = w.Config.Limit
	}
	for _, p := range procs {
		if p.State == vtime.Done {
			v.Finished++
			continue
		}
		v.Ranks = append(v.Ranks, w.rankState(p))
	}
	for _, r := range w.Ranks {
		for _, m := range r.Unmatched() {
			v.Unmatched = append(v.Unmatched, Unmatched{r.ID(), m})
		}
	}
	for n := range w.Config.Nodes {
		s, lost, err := w.nodeState(n, idle)
		v.Lost = append(v.Lost, lost...)
		if err != nil {
			return fmt.Errorf("%w (and the hardware cannot be read: %w)", cause, err)
		}
		v.Nodes = append(v.Nodes, s)
	}
	if class != Limited { // the hardware is at rest
		lost, err := w.lostOnLinks()
		v.Lost = append(v.Lost, lost...)
		if err != nil {
			return fmt.Errorf("%w (and the links cannot be read: %w)", cause, err)
		}
	}
	v.Chain = w.chain(procs, w.fullMailbox(v.Nodes), class != Limited)
	return v
}

func (w *World) rankState(p vtime.ProcState) RankState {
	wait := w.Ranks[p.ID].Waiting()
	s := RankState{Rank: p.ID, Node: p.Node, VPID: p.VPID, State: p.State.String(), Waits: wait.String()}
	if p.State == vtime.AwaitPIO {
		s.Waits = fmt.Sprintf("store to the send window: the NIC does not accept %d posted lines", p.Posted)
	}
	if wait.For == "credits" {
		s.Flow = w.Ranks[p.ID].Endpoint().Describe(wait.Peer)
	}
	s.Long = wait.State
	return s
}

func (w *World) nodeState(n int, idle bool) (s NodeState, lost []LostCredits, err error) {
	dev := w.Sys.Device(n)
	read := func(off uint32) (v uint64) {
		if err == nil {
			v, err = dev.ReadReg(off)
		}
		return v
	}
	s = NodeState{Node: n, StallVPID: -1}
	l := levels{tx: read(regs.TXLevel), rx: read(regs.RXLevel), rma: read(regs.RMALevel), ring: read(regs.RMAStallVPID), params: read(regs.Params)}
	rx := l.rx
	s.Lines = regs.TXLevelLines.Of(l.tx)
	s.RxFlits = regs.RXLevelVC0.Of(rx) + regs.RXLevelVC1.Of(rx) + regs.RXLevelVC2.Of(rx)
	s.StallCycles = read(regs.RXStall)
	if st := read(regs.RXStallVPID); st&regs.RXStallVPIDStalled != 0 {
		vpid := uint8(regs.RXStallVPIDVPID.Of(st))
		s.StallVPID = int(vpid)
		s.Fill = (read(regs.MboxWP(vpid)) - read(regs.MboxRP(vpid))) & 0xffffffff
		s.Slots = read(regs.MboxSlots(vpid))
	}
	if err == nil {
		lost = s.held(l, idle)
		w.deadLinks(&s, dev)
	}
	return s, lost, err
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

// chain follows the wait-for relation from the first rank that waits for another, until it closes
// (which proves a deadlock if the waits are permanent) or ends.
func (w *World) chain(procs []vtime.ProcState, full int, forever bool) (links []string) {
	seen := map[int]bool{}
	for id := firstWaiting(procs); id >= 0 && !seen[id]; {
		seen[id] = true
		link, next := w.link(procs[id], full)
		links = append(links, link)
		if forever && next >= 0 && seen[next] {
			links = append(links, fmt.Sprintf("rank %d: closes the cycle", next))
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

// link describes what one rank waits for, and returns the rank that could end the wait. full is the
// rank whose mailbox stalls the network, or -1.
func (w *World) link(p vtime.ProcState, full int) (string, int) {
	wait := w.Ranks[p.ID].Waiting()
	switch {
	case p.State == vtime.Done:
		return fmt.Sprintf("rank %d: finished; sends no more messages and returns no credits", p.ID), -1
	case p.State == vtime.AwaitPIO:
		if full < 0 {
			return fmt.Sprintf("rank %d: store to the send window blocked although no mailbox is full: the network is blocked", p.ID), -1
		}
		return fmt.Sprintf("rank %d: store to the send window blocked: the full mailbox of rank %d stalls the network", p.ID, full), full
	case wait.For == "message" && wait.Peer == host.AnySource:
		return fmt.Sprintf("rank %d: %s", p.ID, wait), -1
	case wait.For == "credits":
		return fmt.Sprintf("rank %d: %s; rank %d must retrieve and return credits", p.ID, wait, wait.Peer), wait.Peer
	}
	return fmt.Sprintf("rank %d: %s", p.ID, wait), wait.Peer
}

// fullMailbox returns the rank whose mailbox stalls its node's completer, or -1.
func (w *World) fullMailbox(nodes []NodeState) int {
	for _, s := range nodes {
		if s.StallVPID >= 0 {
			return slices.Index(w.Config.addrs(), velo.Addr{Node: s.Node, VPID: s.StallVPID})
		}
	}
	return -1
}
