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
	id := f.routers[router].outs[port]
	o, s := &f.outs[id], PortStats{Waited: f.waited[id]}
	for v := range o.lanes {
		l := &o.lanes[v]
		s.Flits += l.sent - l.decided(f.now)
		s.NoCredit += l.starved
		if l.to != nil && l.free <= f.now && l.wants() && o.ready>>v&1 == 0 {
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
	for _, o := range f.outs {
		for v := range o.lanes {
			n += o.lanes[v].sent - o.lanes[v].decided(f.now)
		}
	}
	return n
}
