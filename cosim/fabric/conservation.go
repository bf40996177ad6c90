package fabric

import (
	"errors"
	"fmt"
)

// ErrCredits reports that credits were lost or invented.
var ErrCredits = errors.New("fabric: credits are not conserved")

// CheckCredits checks credit conservation of an empty, idle network: every sender must hold one
// credit per entry of the buffer that it fills. Links without a session at both ends, or without
// carrier, are skipped, because their outputs have no credits until a session starts. So are
// networks of which a part is simulated elsewhere.
func (f *Fabric) CheckCredits() error {
	if f.cfg.Outside != nil {
		return nil
	}
	for r := range f.routers {
		for port := range f.routers[r].outs {
			for v := range f.vcs {
				l := f.outputVC(r, port, v)
				if l.to == nil || !f.hasSession(l, r) {
					continue
				}
				if n := l.credits(Forever); n != f.cfg.VCDepth {
					return fmt.Errorf("%w: router %d, port %d, VC %d: %d credits for %d free entries", ErrCredits, r, port, v, n, f.cfg.VCDepth)
				}
			}
		}
	}
	for node := range f.where {
		for v := range f.where[node].wire {
			l := &f.where[node].wire[v]
			if n := l.credits(Forever); l.to != nil && n != f.cfg.VCDepth {
				return fmt.Errorf("%w: node %d, VC %d of its NIC: %d credits for %d free entries", ErrCredits, node, v, n, f.cfg.VCDepth)
			}
		}
	}
	return nil
}

// hasSession reports whether credits pass between an output of a router and the buffer behind it.
func (f *Fabric) hasSession(l *outputVC, router int) bool {
	if l.part != exactly {
		return true
	}
	j := f.parts[f.routers[router].part].joints[l.out]
	return j.carrier && j.ends[0].up && j.ends[1].up
}
