package fabric

// Traffic between parts is stored in lists, one per round and destination. A round ends with
// Exchange. There are several lists per destination: while a part takes the list of a round, the
// sender may be ahead and fill the lists of later rounds.

// rounds is the number of lists: for the rounds that a slow receiver has not taken, and those that
// a sender is ahead by.
const rounds = 4

// outbox is the traffic to another part in a round.
type outbox struct {
	arrivals []arrival
	credits  []credit
	orders   []wireOrder
	mix      bool
	_        [128 - 80]byte // avoids false sharing with the next element
}

type arrival struct {
	to   *inputVC
	flit Flit
	n    uint64
	at   uint64
}

type credit struct {
	to    *outputVC
	at, n uint64
}

func (p *Part) box(to uint8) *outbox { return &p.boxes[p.round%rounds][to] }

func (p *Part) sendArrival(l *outputVC, flit Flit, n uint64) {
	if l.part == exactly {
		p.toLink(l, flit, n)
		return
	}
	b := p.box(l.part)
	b.arrivals = append(b.arrivals, arrival{l.to, flit, n, p.now + p.hop})
	p.inside -= int(n)
}

func (p *Part) sendCredits(in *inputVC, at, n uint64) {
	if in.from == exactly {
		p.linkCredits(in, at, n)
		return
	}
	b := p.box(in.from)
	b.credits = append(b.credits, credit{in.sender, at, n})
}

// Exchange ends a round of this part, and takes the traffic of the other parts up to the same
// round, or up to the previous one if late is 1. They must have ended these rounds.
func (p *Part) Exchange(late uint) {
	p.round++
	for ; p.taken+late < p.round; p.taken++ {
		for i := range p.boxes[0] {
			p.take(&p.parts[i].boxes[p.taken%rounds][p.id])
		}
	}
	if p.knownUntil, p.stood = p.stood, p.now; late == 0 { // all parts do this in the same cycles
		p.knownUntil = p.now
	}
	for _, j := range p.crossing {
		p.runLink(j)
	}
}

func (p *Part) take(box *outbox) {
	for _, a := range box.arrivals {
		if a.to.from == exactly {
			p.linkFlits(p.joints[a.to.sender.out], a)
			continue
		}
		p.inside += int(a.n)
		p.enter(a.to, a.flit, a.n, a.at)
	}
	for _, c := range box.credits {
		if c.to.part == exactly {
			p.linkPulses(p.joints[c.to.out], c)
			continue
		}
		p.credit(c.to, c.at, c.n)
	}
	for _, o := range box.orders {
		p.obey(o)
	}
	if box.mix && p.run > 1 {
		p.endRuns()
	}
	box.arrivals, box.credits, box.orders, box.mix = box.arrivals[:0], box.credits[:0], box.orders[:0], false
}
