package fabric

// What passes between parts stands in lists, one per part that it goes to. There are two
// of each: while a part reads what the others sent before it met them, these may already
// send what it takes at the next meeting.

// outbox is what a part has sent to another since they met.
type outbox struct {
	arrivals []arrival
	credits  []credit
	mix      bool
}

type arrival struct {
	to   *pool
	flit Flit
	n    uint64
	at   uint64
}

type credit struct {
	to    *lane
	at, n uint64
}

func (p *Part) box(to uint8) *outbox { return &p.boxes[p.round&1][to] }

func (p *Part) sendArrival(l *lane, flit Flit, n uint64) {
	b := p.box(l.part)
	b.arrivals = append(b.arrivals, arrival{l.to, flit, n, p.now + p.hop})
	p.inside -= int(n)
}

func (p *Part) sendCredits(in *pool, at, n uint64) {
	b := p.box(in.from)
	b.credits = append(b.credits, credit{in.sender, at, n})
}

// Exchange takes what the other parts have sent up to the last meeting. Every part calls
// it after each meeting of all, before it steps again.
func (p *Part) Exchange() {
	round := p.round & 1
	p.round++
	for i := range p.boxes[0] {
		from := &p.parts[i].boxes[round][p.id]
		for _, a := range from.arrivals {
			p.inside += int(a.n)
			p.enter(a.to, a.flit, a.n, a.at)
		}
		for _, c := range from.credits {
			p.credit(c.to, c.at, c.n)
		}
		if from.mix {
			p.endRuns()
		}
		own := p.box(uint8(i)) // which the other has read at the meeting before
		own.arrivals, own.credits, own.mix = own.arrivals[:0], own.credits[:0], false
	}
}
