package fabric

import (
	"errors"
	"fmt"
	"math/bits"
)

// Links in error. A link whose wires never had a fault is a delay, which costs nothing beyond
// step.go. After Expose it is a link as in the RTL, word by word (type link): flits that leave an
// output are passed to it in the next cycle, and it inserts flits into queues and returns credits
// when they arrive. Without faults both are equal to the cycle.
//
// A link between parts exists in both of them. Each part steps its own copy with the actions of the
// other router, which it learns Lookahead cycles later: in time for everything that leaves the
// link.

// crossingAhead is the Lookahead over an exposed link. A lost carrier, or a word that ends the
// session, passes only the registers of its own end before it has an effect.
const crossingAhead = DefaultRouterCycles + DefaultLinkCycles - 2

// exactly is the part number of output and input VCs with exposed links. It differs from every real
// part, so that their traffic takes the paths by which flits leave a part.
const exactly = ^uint8(0)

// ErrWires is the reason why a link cannot be exposed.
var ErrWires = errors.New("fabric: wires that cannot fail")

// A joint is an exposed link in a part.
type joint struct {
	link
	p     *Part
	outs  [2]uint32 // outputs that use it, by end
	gates [2]gate   // of these outputs
	own   [2]bool   // the router of the end is in this part
	other uint8     // part of the other end; may be the same
}

// A LinkFailure reports a link that lost its carrier, was declared dead, or whose session ended.
type LinkFailure struct {
	Router, Port int32
	At           uint64 // cycle; it may be in the past for a link between parts
}

// An Ended reports a packet that was cut by a link, which gives it one tail more, or a tail that a
// link discarded.
type Ended struct {
	Packet uint32
	Cut    bool
}

// Wires returns an error unless a port leads to another router over wires that can fail.
func (f *Fabric) Wires(router, port int) error {
	if _, _, leads := f.cfg.Topology.Link(router, port); !leads {
		return fmt.Errorf("%w: port %d of router %d leads nowhere", ErrWires, port, router)
	}
	return f.CanFail()
}

// CanFail returns an error if wires cannot fail in this configuration.
func (f *Fabric) CanFail() error {
	c := &f.cfg
	switch latency := c.LinkCycles - DefaultLinkCycles; {
	case c.Outside != nil:
		return fmt.Errorf("%w: routers outside are on one part of them", ErrWires)
	case latency < 0 || c.RouterCycles != DefaultRouterCycles || c.CreditCycles != DefaultCreditCycles+latency:
		return fmt.Errorf("%w: links have other cycles than those of the RTL", ErrWires)
	}
	return nil
}

// Exposed reports whether Expose was called for a link.
func (f *Fabric) Exposed(router, port int) bool {
	return f.outputVC(router, port, 0).part == exactly
}

// Crosses reports whether a link leads from one part to another.
func (f *Fabric) Crosses(router, port int) bool {
	peer, _, _ := f.cfg.Topology.Link(router, port)
	return f.routers[router].part != f.routers[peer].part
}

// Expose turns a link into one whose wires can fail and whose ends can be reset, in both
// directions; set are the settings of its ends. All parts must be at the same cycle, with
// everything exchanged. If recent traffic was recorded (see history, Remember), its state is the
// same as if it had been exposed from the start. Otherwise flits in flight arrive unharmed, and the
// link is treated as idle.
func (f *Fabric) Expose(router, port int, set [2]LinkSettings) error {
	if err := f.Wires(router, port); err != nil || f.Exposed(router, port) {
		return err
	}
	peer, back, _ := f.cfg.Topology.Link(router, port)
	at := [2]socket{{router, port}, {peer, back}}
	if f.Crosses(router, port) {
		f.endRuns()
	} else {
		f.parts[f.routers[router].part].Mix() // a run relies on future credits
	}
	h := f.recall(at)
	for _, s := range at {
		f.parts[f.routers[s.router].part].remember()
	}
	for i, s := range at {
		if part := f.parts[f.routers[s.router].part]; i == 0 || f.Crosses(router, port) {
			part.expose(at, set, h)
		}
	}
	for _, s := range at {
		for v := range f.vcs {
			l := f.outputVC(s.router, s.port, v)
			l.part, l.to.from = exactly, exactly
		}
	}
	return nil
}

// endRuns makes flits move one by one in all parts.
func (f *Fabric) endRuns() {
	for _, p := range f.parts {
		p.Mix()
	}
	for _, p := range f.parts {
		if len(f.parts) > 1 {
			p.Exchange(0)
		}
	}
}

func (p *Part) expose(at [2]socket, set [2]LinkSettings, h *history) {
	if p.joints == nil {
		p.joints = make([]*joint, p.exits)
		p.wake = NewCalendar(timersReach, p.exits)
	}
	j := &joint{p: p, other: p.id}
	j.link = *h.link(p, at, set)
	j.user = j
	for i, s := range at {
		r := &p.routers[s.router]
		j.outs[i] = r.outs[s.port]
		p.joints[j.outs[i]] = j
		if j.own[i] = r.part == p.id; !j.own[i] {
			j.other = r.part
		}
	}
	p.wake.Add(p.now, j.outs[0])
	if j.other != p.id {
		p.crossing = append(p.crossing, j)
		p.knownUntil = p.now
	}
}

// outputOf is the output VC through which an end sends.
func (p *Part) outputOf(j *joint, end, vc int) *outputVC {
	return &p.outputVCs[int(j.outs[end])*p.vcs+vc]
}

// end is the number of an output VC's end.
func (j *joint) end(l *outputVC) int {
	if l.out == j.outs[0] {
		return 0
	}
	return 1
}

// timersReach is the maximum time between two examinations of a link, even if it waits for longer.
const timersReach = 1 << 10

// toLink sends a run from a router over an exposed link.
func (p *Part) toLink(l *outputVC, flit Flit, n uint64) {
	a := arrival{l.to, flit, n, p.now + 1}
	j := p.joints[l.out]
	p.inside -= int(n)
	p.linkFlits(j, a)
	if j.other != p.id {
		b := p.box(j.other)
		b.arrivals = append(b.arrivals, a)
	}
}

func (p *Part) linkFlits(j *joint, a arrival) {
	l := a.to.sender
	*j.ends[j.end(l)].flits.push() = sentFlits{at: a.at, n: a.n, vc: l.vc, flit: a.flit}
	p.wake.Add(p.now, j.outs[0])
}

// linkCredits frees n entries behind an exposed link; at is the cycle from which the other end
// would know them.
func (p *Part) linkCredits(in *inputVC, at, n uint64) {
	c := credit{in.sender, at - in.delay + 1, n}
	j := p.joints[in.sender.out]
	p.linkPulses(j, c)
	if j.other != p.id {
		b := p.box(j.other)
		b.credits = append(b.credits, c)
	}
}

func (p *Part) linkPulses(j *joint, c credit) {
	e := &j.ends[1-j.end(c.to)]
	*e.credits[c.to.vc].push() = pulses{c.at, c.n}
	p.wake.Add(p.now, j.outs[0])
}

// Order schedules a write to a register of an exposed link's wire, at the port where it begins. It
// takes effect in a given cycle, the one after the next at the earliest.
func (p *Part) Order(router, port int, to WireRegister, v, from uint64) {
	if to == LinkPatience {
		from++ // its comparison is registered
	}
	out := p.routers[router].outs[port]
	o := wireOrder{out, order{at: from, to: to, v: v}}
	j := p.joints[out]
	p.obey(o)
	if j.other != p.id {
		b := p.box(j.other)
		b.orders = append(b.orders, o)
	}
}

type wireOrder struct {
	out uint32
	order
}

func (p *Part) obey(o wireOrder) {
	j, end := p.joints[o.out], 0
	if o.out != j.outs[0] {
		end = 1
	}
	j.order(end, o.order)
	p.wake.Add(p.now, j.outs[0])
}

// runLinks steps the links with activity up to the cycle before Now.
func (p *Part) runLinks() {
	words := p.wake.Take(p.now - 1)
	for i, word := range words {
		for words[i] = 0; word != 0; word &= word - 1 {
			p.runLink(p.joints[i<<6+bits.TrailingZeros64(word)])
		}
	}
}

func (p *Part) runLink(j *joint) {
	most := p.now - 1
	to := [2]uint64{most, most}
	if j.other != p.id {
		for i := range to {
			if to[i] = min(most, p.knownUntil); j.own[i] {
				to[i] = min(most, p.knownUntil+1)
			}
		}
	}
	j.run(to)
	if next := j.next(); next != Forever {
		p.wake.Add(min(max(next, p.now), p.now+timersReach), j.outs[0])
	}
}

// hear: before a cycle is stepped, everything that other parts did Lookahead cycles before is
// known, even if time was skipped since the last exchange.
func (p *Part) hear() {
	const ahead = crossingAhead - 1
	p.knownUntil = max(p.knownUntil, max(p.now, ahead)-ahead)
	for _, j := range p.crossing {
		p.runLink(j)
	}
}

// LinkState returns the registers of a link's end in cycle Now.
func (p *Part) LinkState(router, port int) LinkState {
	if !p.Exposed(router, port) {
		_, _, leads := p.cfg.Topology.Link(router, port)
		return LinkState{Carrier: leads, Agreed: leads}
	}
	out := p.routers[router].outs[port]
	j := p.joints[out]
	p.catchUp(j)
	if out == j.outs[0] {
		return j.state(0)
	}
	return j.state(1)
}

// WireState returns the registers of its wire.
func (p *Part) WireState(router, port int) WireState {
	if !p.Exposed(router, port) {
		return WireState{}
	}
	out := p.routers[router].outs[port]
	j := p.joints[out]
	p.catchUp(j)
	if out == j.outs[0] {
		return j.wires[0].WireState
	}
	return j.wires[1].WireState
}

func (p *Part) catchUp(j *joint) {
	if j.other != p.id {
		p.hear()
	}
	p.runLink(j)
	if !j.emitted {
		j.link.obey(p.now)
	}
}

// LinkFailures returns the failures since the last call; valid until the next call of any method.
func (p *Part) LinkFailures() []LinkFailure {
	list := p.failures
	p.failures = list[:0]
	return list
}

// Ended returns the packets that links have cut, or whose tails they have discarded, since the last
// call.
func (p *Part) Ended() []Ended {
	list := p.ended
	p.ended = list[:0]
	return list
}

// Output of a link.

func (j *joint) arrive(end int, vc uint8, flit Flit, at uint64) {
	if p := j.p; j.own[end] {
		p.inside++
		to := p.outputOf(j, 1-end, int(vc)).to
		if p.arrives != nil {
			p.arrives(int(to.router), int(to.port), vc, flit, at)
		}
		p.enter(to, flit, 1, at)
	}
}

func (j *joint) credit(end int, vc uint8, at uint64) {
	if p := j.p; j.own[end] {
		p.credit(p.outputOf(j, end, int(vc)), at, 1)
	}
}

func (j *joint) failed(end int, at uint64) {
	if p := j.p; j.own[end] {
		from := p.outputOf(j, 1-end, 0).to
		p.failures = append(p.failures, LinkFailure{int32(from.router), int32(from.port), at})
	}
}

func (j *joint) isCut(end int, tail Flit) {
	if j.own[end] {
		j.p.ended = append(j.p.ended, Ended{tail.Packet(), true})
	}
}

func (j *joint) discarded(end int, flit Flit) {
	if j.own[end] && flit.Tail() {
		j.p.ended = append(j.p.ended, Ended{flit.Packet(), false})
	}
}
