package packets

import (
	"math/rand/v2"
	"slices"

	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
)

// The reference is the router described in doc.go, flit by flit and cycle by cycle, as simply as
// possible: every flit is in one place, buffers contain arrived flits, credits are counted in
// flits, and nothing is known in advance.

type refPacket struct {
	packet
	dst int
}

type refFlit struct {
	p   *refPacket
	seq int
}

func (f refFlit) tail() bool { return f.seq == int(f.p.flits)-1 }

// refQueue is an input buffer of one VC.
type refQueue struct {
	flits    []refFlit
	routed   bool // the front packet
	out, vc  int
	nextFrom int64 // cycle from which the next packet is routed
}

// refSide is one side of the crossbar at a port, with the time when it is free.
type refSide struct {
	busy bool
	free int64 // ticks
}

// A refCrossing is a packet that crosses the crossbar.
type refCrossing struct {
	in, q, out, vc int
	granted        int64
}

// refStaged is a flit behind the crossbar.
type refStaged struct {
	refFlit
	from int64 // cycle in which it may enter the wire
	vc   int
}

type refRouter struct {
	id        int
	in, out   []refSide
	queues    []refQueue
	passed    []int         // by queue: number of times that its front packet, the oldest request for an output, was passed over
	heldOut   []int         // by output: the queue that it is held for, or -1
	heldIn    []int         // by input
	lostTo    []map[int]int // by queue: how often its front packet lost to each queue
	credits   []int         // flits, by output and VC
	used      []int32
	crossings []*refCrossing
	staged    [][]refStaged
	dice      *rand.PCG
}

// refNode has all its packets in a list, and its memory takes flits one by one.
type refNode struct {
	id, router, port int
	peers            []*refPeer
	births           traffic.Births
	sending          *refPacket
	seq              int
	pause            int64 // cycle from which it may start a packet
	credits          int
	came             []refFlit
	busyUntil        int64 // memory, with the first of came
	busy             bool
	open             int
	owed             int // first peer to be checked for waiting acknowledgements
	throttle         congestion.Throttle
	grant            congestion.Grant
}

// A refPeer is a destination of a node; -1: any.
type refPeer struct {
	id         int
	dice       rand.PCG
	birth      int64
	waiting    []*refPacket
	paced      int64   // cycle from which data may be sent to it
	sent       []int64 // cycles in which the unacknowledged packets left
	timed      int     // index of the one being timed; -1: none
	trip       int64
	owed, echo int
	bound      int
}

// A refEvent is an arrival in a given cycle.
type refEvent struct {
	router, port, vc int
	flit             refFlit
	credit           int // flits; 0: it is a flit
	whole            bool
}

// A refReceipt is an acknowledgement on separate wires.
type refReceipt struct {
	node, from int
	bound      uint8
}

type reference struct {
	cfg      Config
	patience int
	holds    int    // number of holds of an input and an output
	unfair   string // the first unfair grant
	// receipts, by the cycle of their arrival
	receipts map[int64][]refReceipt
	vcs      int
	t        int64
	routers  []*refRouter
	nodes    []*refNode
	due      map[int64][]refEvent
	observe  func(pk *packet, node int32, t int64)
}

func newReference(cfg Config) *reference {
	s := &reference{cfg: cfg, patience: patience, vcs: cfg.Routing.VCs(), due: map[int64][]refEvent{},
		receipts: map[int64][]refReceipt{}}
	room := cfg.Depth / cfg.Flits * cfg.Flits
	for id := range cfg.Topology.Routers() {
		ports := cfg.Topology.Ports(id)
		r := &refRouter{id: id, in: make([]refSide, ports), out: make([]refSide, ports), queues: make([]refQueue, ports*s.vcs),
			passed:  make([]int, ports*s.vcs),
			heldOut: slices.Repeat([]int{-1}, ports), heldIn: slices.Repeat([]int{-1}, ports), lostTo: make([]map[int]int, ports*s.vcs),
			credits: make([]int, ports*s.vcs), used: make([]int32, ports), staged: make([][]refStaged, ports), dice: rand.NewPCG(cfg.Seed, uint64(id)<<1)}
		for i := range r.credits {
			r.credits[i] = room
		}
		s.routers = append(s.routers, r)
	}
	for id := range cfg.Topology.Nodes() {
		router, port := cfg.Topology.At(id)
		n := &refNode{id: id, router: router, port: port, credits: room}
		partners := cfg.Traffic.Partners(id)
		if partners == nil {
			partners = []int32{-1}
		}
		n.births = traffic.Bernoulli(cfg.rate(id) / float64(cfg.Flits) / float64(len(partners)))
		for i, p := range partners {
			pr := &refPeer{id: int(p), dice: dice(&cfg, id, i), timed: -1, bound: congestion.Start}
			pr.birth = n.births.Gap(&pr.dice) - 1
			n.peers = append(n.peers, pr)
		}
		s.nodes = append(s.nodes, n)
	}
	return s
}

// acknowledged processes the receipts of this cycle.
func (s *reference) acknowledged() {
	for _, m := range s.receipts[s.t] {
		n := s.nodes[m.node]
		i := slices.IndexFunc(n.peers, func(pr *refPeer) bool { return pr.id == m.from })
		s.answered(n, n.peers[i], 1, m.bound)
	}
	delete(s.receipts, s.t)
}

func (s *reference) at(t int64, e refEvent) { s.due[t] = append(s.due[t], e) }

func (s *reference) run(until int64) {
	for ; s.t < until; s.t++ {
		s.arrivals()
		s.acknowledged()
		for _, r := range s.routers {
			for _, c := range r.crossings {
				s.move(r, c)
			}
			s.sweep(r)
		}
		for _, n := range s.nodes {
			s.take(n)
			s.send(n)
		}
		for _, r := range s.routers {
			s.route(r)
			s.grant(r)
			s.sweep(r)
			s.wires(r)
		}
	}
}

// arrivals delivers flits to buffers, and credits to their senders.
func (s *reference) arrivals() {
	for _, e := range s.due[s.t] {
		r := s.routers[e.router]
		node, atNode := s.cfg.Topology.Node(e.router, e.port)
		q := e.port*s.vcs + e.vc
		switch {
		case e.credit == 0:
			r.queues[q].flits = append(r.queues[q].flits, e.flit)
		case atNode:
			s.nodes[node].credits += e.credit
		default:
			r.credits[q] += e.credit
			if e.whole {
				r.used[e.port] -= int32(s.cfg.Flits)
			}
		}
	}
	delete(s.due, s.t)
}

// move lets as many flits of a packet cross as are available and fit into this cycle.
func (s *reference) move(r *refRouter, c *refCrossing) {
	q := &r.queues[c.q]
	in, out := &r.in[c.in], &r.out[c.out]
	end := (s.t + 1) * ticks
	for in.busy && len(q.flits) > 0 && max(in.free, out.free) < end {
		f := q.flits[0]
		q.flits = q.flits[1:]
		now := max(in.free, out.free, s.t*ticks) + s.cfg.flitTicks()
		in.free, out.free = now, now
		r.staged[c.out] = append(r.staged[c.out], refStaged{f, s.t + int64(s.cfg.RouterCycles), c.vc})
		back := 1
		left := s.t
		if f.tail() {
			left = max(now/ticks, c.granted+1)
			in.busy, out.busy = false, false
			q.routed, q.nextFrom = false, left
			back = s.cfg.Flits - f.seq
		}
		s.giveBack(r, c.in, c.q-c.in*s.vcs, back, f.tail(), left+1)
	}
}

// giveBack sends credits in the opposite direction of a wire.
func (s *reference) giveBack(r *refRouter, in, vc, flits int, whole bool, t int64) {
	e := refEvent{router: r.id, port: in, vc: vc, credit: flits, whole: whole}
	cycles := s.cfg.NodeCycles
	if w, ok := s.cfg.Topology.Wire(r.id, in); ok {
		e.router, e.port, cycles = w.Router, w.Port, w.Cycles
	}
	s.at(t+int64(cycles), e)
}

// sweep removes finished crossings.
func (s *reference) sweep(r *refRouter) {
	kept := r.crossings[:0]
	for _, c := range r.crossings {
		if r.in[c.in].busy {
			kept = append(kept, c)
		}
	}
	r.crossings = kept
}

func (s *reference) route(r *refRouter) {
	for i := range r.queues {
		q := &r.queues[i]
		if q.routed || len(q.flits) == 0 || s.t < q.nextFrom {
			continue
		}
		p := q.flits[0].p
		q.out, q.vc = s.cfg.Routing.Route(r.id, i/s.vcs, &p.h, &routing.Sight{Used: r.used, Rand: r.dice})
		q.routed = true
	}
}

// begin reserves room for a packet, and marks it if room is scarce.
func (s *reference) begin(r *refRouter, q *refQueue, o int) {
	p := q.flits[0].p
	ask := o*s.vcs + q.vc
	capacity := s.cfg.Depth / s.cfg.Flits
	if s.cfg.ECN != nil && p.marks&fecn == 0 &&
		marked(s.cfg.ECN.Chance(1-float64(r.credits[ask]/s.cfg.Flits)/float64(capacity)), r.dice) {
		p.marks |= fecn
	}
	r.credits[ask] -= s.cfg.Flits
	r.used[o] += int32(s.cfg.Flits)
	p.h.Hops++
}

// wires: every output sends one flit.
func (s *reference) wires(r *refRouter) {
	for o, list := range r.staged {
		if len(list) == 0 || list[0].from > s.t {
			continue
		}
		f := list[0]
		r.staged[o] = list[1:]
		if node, ok := s.cfg.Topology.Node(r.id, o); ok {
			n := s.nodes[node]
			n.came = append(n.came, f.refFlit)
			s.memory(n)
			continue
		}
		w, _ := s.cfg.Topology.Wire(r.id, o)
		s.at(s.t+int64(w.Cycles), refEvent{router: w.Router, port: w.Port, vc: f.vc, flit: f.refFlit})
	}
}

// memory starts with the next flit.
func (s *reference) memory(n *refNode) {
	if !n.busy && len(n.came) > 0 {
		n.busy, n.busyUntil = true, s.t+s.cfg.slow(n.id)
	}
}

func (s *reference) take(n *refNode) {
	if !n.busy || n.busyUntil > s.t {
		return
	}
	f := n.came[0]
	n.came, n.busy = n.came[1:], false
	s.memory(n)
	if !f.tail() {
		return
	}
	r := s.routers[n.router]
	r.credits[n.port*s.vcs] += s.cfg.Flits
	r.used[n.port] -= int32(s.cfg.Flits)
	for _, pr := range n.peers {
		if pr.id == int(f.p.src) {
			s.hear(n, pr, f.p)
		}
	}
	if s.cfg.ECN != nil {
		n.throttle.Received(s.cfg.ECN, s.t, f.p.marks&becn != 0, s.cfg.Flits)
	}
	if int(f.p.flits) == s.cfg.Flits && s.cfg.Bound == Granted {
		n.grant.Took(int64(s.cfg.Flits)*s.cfg.slow(n.id), s.cfg.Flits)
	}
	if s.cfg.AckCycles > 0 && int(f.p.flits) == s.cfg.Flits {
		i := slices.IndexFunc(n.peers, func(pr *refPeer) bool { return pr.id == int(f.p.src) })
		there := s.t + int64(s.cfg.AckCycles)
		s.receipts[there] = append(s.receipts[there], refReceipt{int(f.p.src), n.id, uint8(n.grant.Bound(n.peers[i].trip, s.cfg.Flits, len(n.peers)))})
	}
	s.observe(&f.p.packet, int32(n.id), s.t)
}

// hear processes the piggybacked information of a peer's packet.
func (s *reference) hear(n *refNode, pr *refPeer, p *refPacket) {
	if s.cfg.AckCycles == 0 {
		s.answered(n, pr, int(p.acks), p.bound)
		if int(p.flits) == s.cfg.Flits {
			pr.owed++
		}
	}
	if p.marks&fecn != 0 {
		pr.echo++
	}
}

// answered counts acknowledgements.
func (s *reference) answered(n *refNode, pr *refPeer, acks int, bound uint8) {
	n.open -= acks
	if acks > 0 {
		if pr.timed >= 0 && pr.timed < acks {
			if trip := s.t - pr.sent[pr.timed]; pr.trip == 0 || trip < pr.trip {
				pr.trip = trip
			}
			pr.timed = -1
		} else if pr.timed >= 0 {
			pr.timed -= acks
		}
		pr.sent = pr.sent[acks:]
	}
	pr.bound = int(bound)
}

// send puts one flit on the wire to the router.
func (s *reference) send(n *refNode) {
	for _, pr := range n.peers {
		for ; pr.birth <= s.t; pr.birth += n.births.Gap(&pr.dice) {
			dst := pr.id
			if dst < 0 {
				dst = s.cfg.Traffic.Next(n.id, &pr.dice)
			}
			pr.waiting = append(pr.waiting, &refPacket{packet{born: pr.birth, src: int32(n.id), flits: uint8(s.cfg.Flits)}, dst})
		}
	}
	if n.sending == nil && s.t >= n.pause && n.credits >= s.cfg.Flits {
		s.choose(n)
	}
	if n.sending == nil {
		return
	}
	f := refFlit{n.sending, n.seq}
	s.at(s.t+int64(s.cfg.NodeCycles), refEvent{router: n.router, port: n.port, flit: f})
	if n.seq++; f.tail() {
		n.sending, n.seq = nil, 0
	}
}

// choose starts the oldest packet that may be sent, or a standalone acknowledgement.
func (s *reference) choose(n *refNode) {
	var next *refPeer
	for _, pr := range n.peers {
		if len(pr.waiting) > 0 && s.t >= pr.paced && s.allows(n, pr) && (next == nil || pr.waiting[0].born < next.waiting[0].born) {
			next = pr
		}
	}
	if next != nil && s.cfg.ECN != nil && n.throttle.Wait(s.cfg.ECN, s.t, s.cfg.Flits) > 0 {
		next = nil
	}
	if next != nil {
		s.begins(n, next)
	} else if next = n.owing(); next != nil && s.cfg.Bound != NoBound {
		n.owed = slices.Index(n.peers, next) + 1
		n.sending = &refPacket{packet{born: s.t, src: int32(n.id), flits: 1}, next.id}
		n.pause = s.t + 1
	} else {
		return
	}
	n.credits -= s.cfg.Flits
	n.sending.h = routing.To(n.sending.dst)
	if next.id < 0 {
		return
	}
	n.sending.acks = uint8(min(next.owed, 255))
	next.owed -= int(n.sending.acks)
	n.sending.bound = uint8(n.grant.Bound(next.trip, s.cfg.Flits, len(n.peers)))
	if next.echo > 0 {
		next.echo--
		n.sending.marks |= becn
	}
}

// owing is the next peer, round-robin, that waits for acknowledgements.
func (n *refNode) owing() *refPeer {
	for _, list := range [][]*refPeer{n.peers[n.owed:], n.peers[:n.owed]} {
		for _, pr := range list {
			if pr.owed > 0 {
				return pr
			}
		}
	}
	return nil
}

// begins starts a data packet.
func (s *reference) begins(n *refNode, pr *refPeer) {
	n.sending, pr.waiting = pr.waiting[0], pr.waiting[1:]
	n.open++
	if pr.sent = append(pr.sent, s.t); pr.timed < 0 {
		pr.timed = len(pr.sent) - 1
	}
	pace := int64(1)
	if s.cfg.Paced {
		pace = s.cfg.pace(pr.id)
	}
	n.pause, pr.paced = s.t+int64(s.cfg.Flits), s.t+int64(s.cfg.Flits)*pace
	if s.cfg.ECN != nil {
		n.throttle.Sent(s.cfg.ECN, s.cfg.Flits)
	}
}

func (s *reference) allows(n *refNode, pr *refPeer) bool {
	if pr.id < 0 {
		return true
	}
	switch s.cfg.Bound {
	case PerNode:
		return n.open < s.cfg.Window
	case PerPair:
		return len(pr.sent) < s.cfg.Window
	case Granted:
		return len(pr.sent) < pr.bound
	}
	return true
}
