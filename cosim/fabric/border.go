package fabric

// A Fabric may have routers that are simulated elsewhere (Config.Outside); the links to them form
// its border. They belong to a part of their own, which is never stepped: its input is handed over,
// and its output is inserted as if it had come from another part.

// outside is the number of the part with the routers outside; there is only one other part.
const outside = 1

// Outside receives the traffic that leaves through the border.
type Outside interface {
	// Flits reports a run of n flits on its way to the input of a router outside, which could
	// forward the first one in cycle at.
	Flits(router, port int, vc uint8, flit Flit, n int, at uint64)
	// Credits reports n freed entries of the input inside that a port of a router outside leads to.
	// The first can be used there in cycle at, each further one a cycle later.
	Credits(router, port int, vc uint8, n int, at uint64)
}

// Leaving reports whether there is traffic to hand over.
func (p *Part) Leaving() bool {
	b := p.box(outside)
	return len(b.arrivals)+len(b.credits) > 0
}

// HandOver hands over everything that has left since the last call.
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

// Arrive inserts a flit from outside into the input of a router, which can forward it from cycle at
// on. at must not be before Now, and the sender must have had a credit. See MayArrive.
func (p *Part) Arrive(router, port int, vc uint8, flit Flit, at uint64) {
	p.inside++
	p.enter(p.inputVC(router, port, int(vc)), flit, 1, at)
}

// MayArrive reports whether a flit on a VC is allowed: before Mix only VC 0 may be used.
func (p *Part) MayArrive(vc uint8, at uint64) bool { return vc == 0 || p.run == 1 && at >= p.mixed }

// Restore returns a credit to an output that leads outside, usable from cycle at on. at must not be
// before Now, and must be later than that of the previous credit.
func (p *Part) Restore(router, port int, vc uint8, at uint64) {
	p.credit(p.outputVC(router, port, int(vc)), at, 1)
}

// Owed is the number of credits of an output that have not returned.
func (p *Part) Owed(router, port int, vc uint8) int {
	l := p.outputVC(router, port, int(vc))
	return p.cfg.VCDepth - int(l.known-l.sent)
}
