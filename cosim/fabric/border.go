package fabric

// A Fabric may have routers that are simulated elsewhere (Config.Outside): the links that lead
// there are its border. They stand in a part of their own, which is never stepped; what goes to it
// is handed over, and what comes from it is put where it would have come from a part.

// outside is the number of the part that has the routers outside; there is one other.
const outside = 1

// Outside takes what leaves through the border.
type Outside interface {
	// Flits: a run of n flits is on its way to the input of a router outside, where the first could
	// leave again in cycle at.
	Flits(router, port int, vc uint8, flit Flit, n int, at uint64)
	// Credits: n entries have become free of the input inside that a port of a router outside leads
	// to. The first can be used there in cycle at, each other a cycle later.
	Credits(router, port int, vc uint8, n int, at uint64)
}

// Leaving tells whether there is anything to hand over.
func (p *Part) Leaving() bool {
	b := p.box(outside)
	return len(b.arrivals)+len(b.credits) > 0
}

// HandOver hands over what has left since the last time.
func (p *Part) HandOver(to Outside) {
	b := p.box(outside)
	for _, a := range b.arrivals {
		to.Flits(int(a.to.router), int(a.to.port), a.to.vc, a.flit, int(a.n), a.at)
	}
	for _, c := range b.credits {
		router, port, _ := p.cfg.Topology.Link(int(c.to.to.router), int(c.to.to.port))
		to.Credits(router, port, c.to.vc, int(c.n), c.at)
	}
	b.arrivals, b.credits = b.arrivals[:0], b.credits[:0]
}

// Arrive puts a flit from outside into the input of a router, where it can leave from cycle at on;
// at is Now or later, and the sender had a credit. See MayArrive.
func (p *Part) Arrive(router, port int, vc uint8, flit Flit, at uint64) {
	p.inside++
	p.enter(p.inputVC(router, port, int(vc)), flit, 1, at)
}

// MayArrive tells whether a flit on a VC is allowed: before Mix only VC 0 may be used.
func (p *Part) MayArrive(vc uint8, at uint64) bool { return vc == 0 || p.run == 1 && at >= p.mixed }

// Restore gives an output that leads outside a credit, which can be used from cycle at on: Now or
// later, and a cycle behind the one before.
func (p *Part) Restore(router, port int, vc uint8, at uint64) {
	p.credit(p.outputVC(router, port, int(vc)), at, 1)
}

// Owed tells how many credits of an output have not come back.
func (p *Part) Owed(router, port int, vc uint8) int {
	l := p.outputVC(router, port, int(vc))
	return p.cfg.VCDepth - int(l.known-l.sent)
}
