package fabric

// PortStats counts what an output port did since New.
type PortStats struct {
	Flits uint64
	// NoCredit counts, per VC, the cycles in which a flit could have gone but for a
	// credit; Waited those in which it could go and another VC had the turn.
	NoCredit, Waited uint64
}

// PortStats gives the counts of a router's output.
func (f *Fabric) PortStats(router, port int) PortStats {
	out := f.routers[router].firstOut + uint32(port)
	s := PortStats{Waited: f.outs[out].waited}
	for v := range uint32(f.vcs) {
		l := &f.lanes[out<<f.laneBits+v]
		s.Flits += l.sent
		s.NoCredit += l.starved
		if l.credit == 0 && l.req&l.may != 0 {
			s.NoCredit += f.now - l.since
		}
	}
	return s
}

// RouteErrors counts the packets that a router discarded.
func (f *Fabric) RouteErrors(router int) uint64 { return f.routers[router].errors }

// Hops counts all flits sent by all outputs, those to NICs included.
func (f *Fabric) Hops() uint64 {
	var n uint64
	for i := range f.lanes {
		n += f.lanes[i].sent
	}
	return n
}
