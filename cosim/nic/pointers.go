package nic

import "github.com/nicloop/nicloop/drivers/regs"

// pointers of a ring: of a mailbox or of notifications.
type pointers struct {
	wp, rp  uint32
	ahead   uint32 // wp with those whose write was begun
	idx     uint32 // the same modulo the size of the ring
	refused bool   // the last write of rp
}

// filled: the ring has no room.
func (p *pointers) filled(slots uint32) bool { return p.ahead-p.rp >= slots }

// begin has the next entry written.
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

// moveRP writes a read pointer, if the ring can have been read to there; software may have seen
// what is being written before the memory has acknowledged it, but not what begins just now.
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
