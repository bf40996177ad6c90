package vtime

import (
	"slices"
	"testing"

	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// wires is the network of a part: wires of equal latency from every node to every other. Packets
// that arrive in the same cycle are ordered by sender.
type wires struct {
	p     *nic.Part
	all   []*wires
	nodes []wiresEnd  // of the whole machine
	sent  [4][]parcel // by round
	round uint
	taken uint
	done  drivers.Cycle
}

type wiresEnd struct {
	offered [nic.Sources]bool
	free    drivers.Cycle
	in      []parcel
	from    drivers.Cycle
}

type parcel struct {
	at       drivers.Cycle
	src, dst int
	packet   uint32
}

const wiresLatency = 7

func (w *wires) mine(node int) bool {
	first, past := w.p.Nodes()
	return node >= first && node < past
}

func (w *wires) Announce()                               {}
func (w *wires) Offer(node int, s nic.Source)            { w.nodes[node].offered[s] = true }
func (w *wires) Resume(node, _ int, from drivers.Cycle)  { w.nodes[node].from = from }
func (w *wires) Waiting(int, int) int                    { return 0 }
func (w *wires) Credits(int, int) int                    { return 0 }
func (w *wires) Route(int, int, int)                     {}
func (w *wires) RouteErrors(int) uint64                  { return 0 }
func (w *wires) Link(int, int) (connected, present bool) { return false, false }

func (w *wires) NextEvent(now drivers.Cycle) drivers.Cycle {
	next := drivers.Forever
	for i := range w.nodes {
		e := &w.nodes[i]
		if len(e.in) > 0 {
			next = min(next, max(e.in[0].at, e.from, now+1))
		}
		if slices.Contains(e.offered[:], true) {
			next = min(next, max(e.free, now+1))
		}
	}
	return next
}

func (w *wires) Step(now drivers.Cycle) {
	for i := range w.nodes {
		e := &w.nodes[i]
		for len(e.in) > 0 && max(e.in[0].at, e.from) <= now {
			if !w.p.Accepts(i, 0, e.in[0].packet) {
				e.from = drivers.Forever
				break
			}
			w.p.Collected(i, 0, e.in[0].packet)
			e.in = e.in[1:]
		}
		if e.offered[nic.SourceVELO] && e.free <= now {
			w.send(now, i, e)
		}
	}
}

func (w *wires) send(now drivers.Cycle, node int, e *wiresEnd) {
	packet, _ := w.p.Next(node, nic.SourceVELO)
	e.free = now + drivers.Cycle(packet.Flits)
	d := parcel{at: now + wiresLatency, src: node, dst: int(packet.Dst), packet: packet.Packet}
	if w.mine(d.dst) {
		w.arrive(d)
	} else {
		w.sent[w.round%4] = append(w.sent[w.round%4], d)
	}
	w.p.Sent(node, nic.SourceVELO)
	_, e.offered[nic.SourceVELO] = w.p.Next(node, nic.SourceVELO)
}

func (w *wires) arrive(d parcel) {
	in := &w.nodes[d.dst].in
	i := len(*in)
	for i > 0 && ((*in)[i-1].at > d.at || (*in)[i-1].at == d.at && (*in)[i-1].src > d.src) {
		i--
	}
	*in = slices.Insert(*in, i, d)
}

func (w *wires) Finish(at drivers.Cycle) { w.done = at }

func (w *wires) Exchange(late uint) {
	w.round++
	for ; w.taken+late < w.round; w.taken++ {
		for _, o := range w.all {
			for _, d := range o.sent[w.taken%4] {
				if o == w || !w.mine(d.dst) {
					continue
				}
				if d.at < w.done {
					panic("a packet comes too late")
				}
				w.arrive(d)
			}
		}
	}
	w.sent[w.round%4] = w.sent[w.round%4][:0]
}

// wired creates a machine with the given number of parts whose mailboxes, of 4 slots, are enabled.
func wired(t testing.TB, nodes, parts int) *nic.Machine {
	m := nic.New(nic.Config{
		Info:   drivers.Info{Nodes: nodes, VPIDs: regs.VPIDs, Dims: [3]int{nodes, 1, 1}, ClockPS: regs.ClockPS},
		Memory: 1 << 16, Timing: nic.RTL().NIC, Parts: parts, Lookahead: wiresLatency,
	})
	var all []*wires
	var nets []nic.Network
	for i := range parts {
		w := &wires{p: m.Part(i), nodes: make([]wiresEnd, nodes)}
		all, nets = append(all, w), append(nets, w)
	}
	for _, w := range all {
		w.all = all
	}
	m.Connect(nets...)
	for n := range nodes {
		for v := range uint8(2) {
			m.PostReg(n, 0, regs.PDID(v), 1)
			m.PostReg(n, 0, regs.MboxBase(v), uint64(v)<<12)
			m.PostReg(n, 0, regs.MboxSlots(v), slots)
			m.PostReg(n, 0, regs.MboxCtrl(v), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		}
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle)
	return m
}

const slots = 4
