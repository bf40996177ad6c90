package fabric

// PortStats are the counters of an output port since New.
type PortStats struct {
	Flits uint64
	// NoCredit counts, over all VCs, the cycles in which a flit waited only for a credit; Waited
	// those in which it could go but another VC had the grant.
	NoCredit, Waited uint64
}

// PortStats returns the counters of a router's output.
func (f *Fabric) PortStats(router, port int) PortStats {
	now := f.parts[f.routers[router].part].now
	s := PortStats{Waited: f.arbiters[f.routers[router].outs[port]].waited}
	for v := range f.vcs {
		l := f.outputVC(router, port, v)
		s.Flits += l.sent - l.decided(now)
		s.NoCredit += l.starved
		if l.want < now {
			s.NoCredit += min(l.next, now) - l.want
		}
	}
	return s
}

// RouteErrors counts the packets discarded by a router.
func (f *Fabric) RouteErrors(router int) uint64 { return f.routers[router].errors }

// Hops counts all flits sent by all outputs, including those to NICs.
func (f *Fabric) Hops() uint64 {
	var n uint64
	for r := range f.routers {
		for port := range f.routers[r].outs {
			n += f.PortStats(r, port).Flits
		}
	}
	return n
}
