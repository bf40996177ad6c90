package nic

import "github.com/nicloop/nicloop/drivers/regs"

// pointers are the read and write pointers of a mailbox or notification ring.
type pointers struct {
	wp, rp  uint32
	ahead   uint32 // wp with those whose write was begun
	idx     uint32 // the same modulo the size of the ring
	refused bool   // the last write of rp
}

// filled reports whether the ring has no free entry.
func (p *pointers) filled(slots uint32) bool { return p.ahead-p.rp >= slots }

// begin allocates the next entry.
func (p *pointers) begin(slots uint32) {
	p.ahead++
	if p.idx++; p.idx >= slots {
		p.idx = 0
	}
}

func (p *pointers) readRP() uint64 {
	if p.refused {
		return uint64(p.rp) | regs.MboxRPRefused
	}
	return uint64(p.rp)
}

// moveRP writes a read pointer, or refuses one that no ring can have. Software may have read an
// entry whose write memory has not acknowledged yet, but not one whose write begins just now
// (begins).
func (n *node) moveRP(p *pointers, v, slots uint32, begins bool) bool {
	ahead := p.ahead
	if begins {
		ahead--
	}
	if p.refused = ahead-v > slots; p.refused {
		n.rpRefused++
		n.interrupt(regs.IRQStatusError)
		return false
	}
	p.rp = v
	return true
}
