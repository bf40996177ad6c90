package fabric

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rig is a link between two routers that only handle flits and credits: they send when they have
// credits, and free entries at random. It checks for any faults that each flit arrives once and in
// order, that no occupied entry is overwritten and that no credit is duplicated.
type rig struct {
	t      testing.TB
	l      *link
	rng    *rand.Rand
	now    uint64
	vcs    int
	depth  int
	sides  [2]side
	left   int     // packets still to be sent
	busy   float64 // activity of the routers
	number uint32
	cuts   int
	tails  int // discarded by the link
	torn   int // packets whose rest stayed in the router
}

// waiting returns settings of ends that do not drain.
func waiting(a, b uint64) [2]LinkSettings { return [2]LinkSettings{{Patience: a}, {Patience: b}} }

type side struct {
	usable   [maxVCs][]uint64 // credits, with the cycle from which each can be used
	open     [maxVCs]int      // remaining flits of the packet being sent
	packet   [maxVCs]uint32
	sent     [maxVCs][]Flit
	held     [maxVCs][]uint64 // flits in the router behind the link, with the cycle from which each can be forwarded
	received [maxVCs][]Flit
	fails    int
}

func newRig(t testing.TB, rng *rand.Rand, vcs, depth int, latency uint64, set [2]LinkSettings) *rig {
	r := &rig{t: t, rng: rng, vcs: vcs, depth: depth, left: 60 + rng.IntN(60), busy: 0.05 + 0.9*rng.Float64()}
	r.l = newLink([2]socket{{3, 1}, {4, 2}}, vcs, depth, latency, set, r)
	for i := range r.sides {
		for v := range vcs {
			r.sides[i].usable[v] = make([]uint64, depth)
		}
	}
	return r
}

func (r *rig) arrive(end int, vc uint8, flit Flit, at uint64) {
	s := &r.sides[end]
	s.held[vc] = append(s.held[vc], at)
	if at < r.now || len(s.held[vc]) > r.depth {
		r.t.Fatalf("cycle %d: a flit of cycle %d, the %dth of %d entries", r.now, at, len(s.held[vc]), r.depth)
	}
	s.received[vc] = append(s.received[vc], flit)
}

func (r *rig) credit(end int, vc uint8, at uint64) {
	s := &r.sides[end]
	s.usable[vc] = append(s.usable[vc], at)
	if len(s.usable[vc]) > r.depth {
		r.t.Fatalf("cycle %d: a credit of nothing", r.now)
	}
}

func (r *rig) failed(end int, _ uint64) { r.sides[end].fails++ }
func (r *rig) isCut(int, Flit)          { r.cuts++ }
func (r *rig) drains(int, bool)         {} // a router may ignore it
func (r *rig) opens(int)                {}

func (r *rig) discarded(_ int, flit Flit) {
	if flit.Tail() {
		r.tails++
	}
}

// closes: the router loses its credits, and the rest of a partly sent packet is discarded.
func (r *rig) closes(end int) {
	s := &r.sides[end]
	for v := range r.vcs {
		s.usable[v] = nil
		if s.open[v] > 0 {
			s.open[v] = 0
			r.torn++
		}
	}
}

// send makes a router send a flit if it has a credit.
func (r *rig) send(i int) {
	s, v := &r.sides[i], r.rng.IntN(r.vcs)
	if len(s.usable[v]) == 0 || s.usable[v][0] > r.now {
		return
	}
	flit := Flit(0)
	if s.open[v] == 0 {
		if r.left == 0 {
			return
		}
		r.left--
		r.number++
		s.open[v], s.packet[v] = 1+r.rng.IntN(12), r.number
		flit |= Head
	}
	if s.open[v]--; s.open[v] == 0 {
		flit = (flit | Tail).WithNote(1) // unlike a generated tail
	}
	flit |= NewFlit(s.packet[v], 7, 0)
	s.usable[v] = s.usable[v][1:]
	s.sent[v] = append(s.sent[v], flit)
	*r.l.ends[i].flits.push() = sentFlits{at: r.now + 1, n: 1, vc: uint8(v), flit: flit}
}

// free makes a router forward a flit that arrived over the link.
func (r *rig) free(i int) {
	s := &r.sides[i]
	for v := range r.vcs {
		if len(s.held[v]) > 0 && s.held[v][0] <= r.now && r.rng.Float64() < r.busy {
			s.held[v] = s.held[v][1:]
			*r.l.ends[i].credits[v].push() = pulses{r.now + 1, 1}
		}
	}
}

// cycle executes a cycle of routers and link.
func (r *rig) cycle() {
	for i := range r.sides {
		if r.rng.Float64() < r.busy {
			r.send(i)
		}
		r.free(i)
	}
	r.l.run([2]uint64{r.now, r.now})
	r.now++
}

// mend removes all faults from the wires.
func (r *rig) mend() {
	for i := range r.l.wires {
		for _, to := range []WireRegister{WireErrors, WireLosses, WireCtrl} {
			r.l.order(i, order{r.now + 2, to, 0})
		}
	}
}

// settle lets everything arrive.
func (r *rig) settle() {
	r.mend()
	for end := r.now + 200_000; ; r.cycle() {
		if r.now >= end {
			r.t.Fatalf("cycle %d: the link does not come to rest", r.now)
		}
		if r.left == 0 && r.still() {
			return
		}
	}
}

// finish lets everything arrive and verifies it.
func (r *rig) finish() {
	r.settle()
	for i := range r.sides {
		for v := range r.vcs {
			require.Len(r.t, r.sides[i].usable[v], r.depth)
			r.compare(r.sides[i].sent[v], r.sides[1-i].received[v])
		}
	}
	require.Zero(r.t, r.l.ends[0].parts+r.l.ends[1].parts)
}

func (r *rig) still() bool {
	for i := range r.sides {
		for v := range r.vcs {
			if s := &r.sides[i]; s.open[v] > 0 || len(s.held[v]) > 0 || len(s.usable[v]) < r.depth {
				return false
			}
		}
	}
	return r.l.next() == Forever
}

// compare checks the arrived packets: each is complete, or a part of one with a tail.
func (r *rig) compare(sent, got []Flit) {
	for len(sent) > 0 {
		n := 1
		for !sent[n-1].Tail() {
			n++
		}
		same := 0
		for same < n && same < len(got) && got[same] == sent[same] {
			same++
		}
		if same < n {
			require.NotZero(r.t, same, "packet %d did not arrive in order", sent[0].Packet())
			require.Equal(r.t, NewFlit(sent[0].Packet(), 0, Tail), got[same])
			r.cuts--
			same++
		}
		sent, got = sent[n:], got[same:]
	}
	require.Empty(r.t, got)
}

// vex adds a fault to the wires, or removes one.
func (r *rig) vex() {
	to := []WireRegister{WireErrors, WireLosses, WireCtrl}[r.rng.IntN(3)]
	v := uint64(r.rng.Uint32() >> r.rng.IntN(8))
	switch {
	case to == WireCtrl:
		v = uint64(r.rng.IntN(2))
	case r.rng.IntN(3) == 0:
		v = []uint64{0, 1<<32 - 1}[r.rng.IntN(2)]
	}
	r.l.order(r.rng.IntN(2), order{r.now + 2, to, v})
}

func (r *rig) play(cycles int, vexed float64) {
	for range cycles {
		if r.rng.Float64() < vexed {
			r.vex()
		}
		r.cycle()
	}
	r.finish()
}

// TestLinkLosesNothing: every flit arrives once and in order, and every credit returns.
func TestLinkLosesNothing(t *testing.T) {
	for seed := range uint64(short(80, 30)) {
		rng := rand.New(rand.NewPCG(seed, 10))
		vcs, depth, latency := 1+rng.IntN(4), 1+rng.IntN(17), uint64(rng.IntN(2)*rng.IntN(65))
		t.Run(fmt.Sprintf("seed%d", seed), func(t *testing.T) {
			r := newRig(t, rng, vcs, depth, latency, waiting(0, 0))
			r.play(3000, 0.01)
			require.Zero(t, r.cuts)
		})
	}
}

// TestLinkCuts: on links that are given up, packets arrive complete, or in part with one tail, as
// counted by LINK_CUT.
func TestLinkCuts(t *testing.T) {
	cuts, seeds := uint64(0), short(80, 30)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 11))
		r := newRig(t, rng, 1+rng.IntN(4), 1+rng.IntN(17), uint64(rng.IntN(2)*rng.IntN(65)), waiting(1+rng.Uint64N(40), rng.Uint64N(300)))
		r.play(4000, 0.01)
		require.Zero(t, r.cuts, "seed %d: some that were cut arrived whole", seed)
		cuts += r.l.ends[0].cut + r.l.ends[1].cut
	}
	require.Greater(t, cuts, uint64(seeds*5/8), "the scenario lost its point")
}

// reset resets an end.
func (r *rig) reset() {
	r.l.order(r.rng.IntN(2), order{r.now + 2, LinkCtrl, LinkReset | uint64(r.rng.IntN(2))})
}

// whole removes the sent packets from the received flits, in order: each complete, in part with a
// tail, or missing. It returns the number of missing ones.
func (r *rig) whole(sent, got []Flit) (lost int) {
	for len(sent) > 0 {
		packet, n := sent[0].Packet(), 0
		for n < len(sent) && sent[n].Packet() == packet {
			n++
		}
		if len(got) == 0 || got[0].Packet() != packet {
			lost++
			sent = sent[n:]
			continue
		}
		same := 0
		for same < n && same < len(got) && got[same] == sent[same] {
			same++
		}
		if !sent[same-1].Tail() {
			require.Less(r.t, same, len(got), "packet %d has no end", packet)
			require.Equal(r.t, NewFlit(packet, 0, Tail), got[same])
			r.cuts--
			same++
		}
		sent, got = sent[n:], got[same:]
	}
	require.Empty(r.t, got)
	return lost
}

// TestLinkResets: with ends that are reset at random and heavy faults, packets arrive complete, in
// part with a tail, or not at all, in order. LINK_LOST and LINK_CUT count exactly those, every
// credit returns, and each tail belongs to a packet.
func TestLinkResets(t *testing.T) {
	var resets, lost, cuts uint64
	for seed := range uint64(short(120, 40)) {
		rng := rand.New(rand.NewPCG(seed, 15))
		vcs, depth, latency := 1+rng.IntN(4), 1+rng.IntN(17), uint64(rng.IntN(2)*rng.IntN(65))
		set := waiting(rng.Uint64N(300), rng.Uint64N(300)*rng.Uint64N(2))
		t.Run(fmt.Sprintf("seed%d", seed), func(t *testing.T) {
			r := newRig(t, rng, vcs, depth, latency, set)
			r.left *= 3
			for range 6000 {
				if rng.IntN(150) == 0 {
					r.reset()
				}
				if rng.IntN(400) == 0 {
					r.vex()
				}
				r.cycle()
			}
			r.settle()
			arrived, ended, none := 0, r.cuts, 0
			for i := range r.sides {
				for v := range r.vcs {
					require.Len(t, r.sides[i].usable[v], depth)
					for _, flit := range r.sides[1-i].received[v] {
						if flit.Tail() {
							arrived++
						}
					}
					none += r.whole(r.sides[i].sent[v], r.sides[1-i].received[v])
				}
			}
			a, b := r.l.state(0), r.l.state(1)
			require.Zero(t, r.cuts, "some that were cut arrived whole")
			require.True(t, a.Agreed && b.Agreed)
			require.Equal(t, uint64(none), a.Lost+b.Lost)
			require.Equal(t, uint64(ended), a.Cut+b.Cut)
			require.Equal(t, int(r.number)+ended, arrived+r.tails+r.torn, "tails")
			resets, lost, cuts = resets+a.Resets+b.Resets, lost+a.Lost+b.Lost, cuts+a.Cut+b.Cut
		})
	}
	t.Logf("%d sessions ended, %d packets lost, %d cut", resets, lost, cuts)
	require.True(t, lost > 0 && cuts > 0, "the scenario lost its point")
}

// TestLinkSleeps: a link that skips idle cycles behaves like one that is stepped in each cycle.
func TestLinkSleeps(t *testing.T) {
	if testing.Short() {
		t.Skip("is long")
	}
	for seed := range uint64(80) {
		var both [2]*rig
		for k := range both {
			rng := rand.New(rand.NewPCG(seed, 12))
			set := waiting(50, 200)
			if seed >= 40 {
				set[0].Drain = true
			}
			r := newRig(t, rng, 2, 4, uint64(rng.IntN(3)), set)
			r.busy /= 20
			if both[k] = r; k == 1 {
				r.l.awake = true
			}
			if seed < 40 {
				r.play(8000, 0.003)
				continue
			}
			for range 8000 {
				if rng.IntN(500) == 0 {
					r.reset()
				}
				if rng.IntN(300) == 0 {
					r.vex()
				}
				r.cycle()
			}
			r.settle()
		}
		require.Equal(t, both[0].sides, both[1].sides, "seed %d", seed)
		for i := range both[0].l.ends {
			require.Equal(t, both[0].l.state(i), both[1].l.state(i), "seed %d", seed)
			require.Equal(t, both[0].l.wires[i].WireState, both[1].l.wires[i].WireState, "seed %d", seed)
		}
	}
}

// TestCleanLink: without faults nothing is retransmitted or delayed, for any length of the wire.
func TestCleanLink(t *testing.T) {
	for _, latency := range []uint64{0, 1, 20, 64} {
		r := newRig(t, rand.New(rand.NewPCG(1, latency)), 2, 16, latency, waiting(16384, 16384))
		r.play(2000, 0)
		for i := range r.l.ends {
			require.Equal(t, LinkState{Carrier: true, Agreed: true}, r.l.state(i))
			require.Equal(t, 5+2*latency, r.l.ends[i].roundTrip)
		}
	}
}

// TestDeadLink: eight consecutive timeouts, then a word per timeout until an answer arrives.
func TestDeadLink(t *testing.T) {
	r := newRig(t, rand.New(rand.NewPCG(2, 2)), 2, 16, 0, waiting(0, 0))
	r.busy = 0.5
	for range 100 {
		r.cycle()
	}
	r.l.order(0, order{r.now + 2, WireLosses, 1<<32 - 1})
	for range 8*65 + 100 {
		r.cycle()
	}
	require.True(t, r.l.state(0).Dead)
	require.Equal(t, 1, r.sides[0].fails)
	before := r.l.state(0)
	for range 10 * 65 {
		r.cycle()
	}
	require.Equal(t, before.Timeouts+10, r.l.state(0).Timeouts)
	require.Equal(t, before.Retransmissions+10, r.l.state(0).Retransmissions)
	r.finish()
	require.False(t, r.l.state(0).Dead)
}

// FuzzLink: any faults at any time.
func FuzzLink(f *testing.F) {
	f.Add(uint64(1), []byte{3, 2, 200, 40, 1, 10, 255, 0})
	f.Fuzz(func(t *testing.T, seed uint64, script []byte) {
		rng := rand.New(rand.NewPCG(seed, 13))
		r := newRig(t, rng, 1+rng.IntN(4), 1+rng.IntN(17), uint64(rng.IntN(20)), waiting(rng.Uint64N(100), 0))
		for i := 0; i+1 < min(len(script), 400); i += 2 {
			for range script[i] {
				r.cycle()
			}
			b := script[i+1]
			to := []WireRegister{WireErrors, WireLosses, WireCtrl, WireSeed}[b>>1&3]
			v := uint64(b>>3) << 27
			if to == WireCtrl {
				v = uint64(b >> 3 & 1)
			}
			r.l.order(int(b&1), order{r.now + 2, to, v})
		}
		r.finish()
		require.Zero(t, r.cuts)
	})
}
