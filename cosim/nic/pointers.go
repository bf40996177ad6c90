package nic

import "github.com/nicloop/nicloop/drivers/regs"

// pointers of a ring: of a mailbox or of notifications.
type pointers struct {
	wp, rp, idx uint32
	refused     bool // the last write of rp
}

// filled: the ring has no room. One that was read ahead of a write that then failed is empty.
func (p *pointers) filled(slots uint32) bool {
	fill := p.wp - p.rp
	return fill >= slots && fill != 1<<32-1
}

func (p *pointers) readRP() uint64 {
	if p.refused {
		return uint64(p.rp) | regs.MboxRPRefused
	}
	return uint64(p.rp)
}

// moveRP writes a read pointer, if the ring can have been read to there; software may have seen
// what is being written before the memory has acknowledged it.
func (n *node) moveRP(p *pointers, v, slots uint32, writing bool) bool {
	wp := p.wp
	if writing {
		wp++
	}
	if p.refused = wp-v > slots; p.refused {
		n.rpRefused++
		n.interrupt(regs.IRQStatusError)
		return false
	}
	p.rp = v
	return true
}
