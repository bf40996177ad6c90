package fabric

// PortStats counts what an output port did since New.
type PortStats struct {
	Flits uint64
	// NoCredit counts, per VC, the cycles in which a flit could have gone but for a
	// credit; Waited those in which it could go and another VC had the grant.
	NoCredit, Waited uint64
}

// PortStats gives the counts of a router's output.
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

// RouteErrors counts the packets that a router discarded.
func (f *Fabric) RouteErrors(router int) uint64 { return f.routers[router].errors }

// Hops counts all flits sent by all outputs, those to NICs included.
func (f *Fabric) Hops() uint64 {
	var n uint64
	for r := range f.routers {
		for port := range f.routers[r].outs {
			n += f.PortStats(r, port).Flits
		}
	}
	return n
}
