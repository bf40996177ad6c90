package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	nvmFullRate  = 1 << 16 // NVM_RATE: 8 bytes per cycle
	nvmFraction  = 16      // bits of a level behind the point
	nvmRateMask  = 1<<17 - 1
	nvmDepthMask = 1<<24 - 1
)

// An nvmRange is memory that is slow to write: its buffer drains at a rate, and a
// burst enters when it fits. level is the buffer's after the edge at.
type nvmRange struct {
	first, behind, rate, depth uint64
	level                      uint64
	at                         drivers.Cycle
	written, waited            uint64
}

func (r *nvmRange) hit(addr uint64) bool { return addr >= r.first && addr < r.behind }

// drained is the level after edge at.
func (r *nvmRange) drained(at drivers.Cycle) uint64 {
	if r.rate == 0 || at <= r.at {
		return r.level
	}
	cycles := uint64(at - r.at)
	if cycles > r.level/(8*r.rate) {
		return 0
	}
	return r.level - cycles*8*r.rate
}

// empty is the edge after which nothing is left; a rate of 0 leaves all for good.
func (r *nvmRange) empty() drivers.Cycle {
	if step := 8 * r.rate; step > 0 && r.level > 0 {
		return r.at + drivers.Cycle((r.level+step-1)/step)
	}
	return 0
}

// fits is the first edge, not before from, at which a burst may enter.
func (r *nvmRange) fits(from drivers.Cycle, bytes uint64) drivers.Cycle {
	target := uint64(0)
	if r.depth > bytes {
		target = (r.depth - bytes) << nvmFraction
	}
	level := r.drained(from - 1)
	switch {
	case level <= target:
		return from
	case r.rate == 0:
		return drivers.Forever
	}
	step := 8 * r.rate
	return from + drivers.Cycle((level-target+step-1)/step)
}

func (r *nvmRange) enter(at drivers.Cycle, bytes uint64) {
	r.level = r.drained(at) + bytes<<nvmFraction
	r.at = at
	r.written += bytes
}

// settle brings the level up to now, before a register changes how it drains.
func (r *nvmRange) settle(now drivers.Cycle) {
	r.level = r.drained(now)
	r.at = max(r.at, now)
}

// fits is when a burst may enter the buffers of the slow memory that it is for, as far as is known now.
func (n *node) fits(now drivers.Cycle, addr, bytes uint64) drivers.Cycle {
	at := now
	if n.nvmInUse {
		for i := range n.nvm {
			if r := &n.nvm[i]; r.hit(addr) {
				at = max(at, r.fits(now, bytes))
			}
		}
	}
	return at
}

// enterNVM fills these buffers.
func (n *node) enterNVM(now, waited drivers.Cycle, addr, bytes uint64) {
	for i := range n.nvm {
		if r := &n.nvm[i]; r.hit(addr) {
			r.enter(now, bytes)
			r.waited += uint64(waited)
		}
	}
}

func (n *node) readNVM(now drivers.Cycle, off uint32, i uint8) (uint64, bool) {
	if int(i) >= len(n.nvm) {
		return 0, false
	}
	r := &n.nvm[i]
	switch off {
	case regs.NVMBase(i):
		return r.first, true
	case regs.NVMEnd(i):
		return r.behind, true
	case regs.NVMRate(i):
		return r.rate, true
	case regs.NVMDepth(i):
		return r.depth, true
	case regs.NVMLevel(i):
		return (r.drained(now-1) + 1<<nvmFraction - 1) >> nvmFraction, true
	case regs.NVMBytes(i):
		return r.written, true
	case regs.NVMStall(i):
		return r.waited, true
	}
	return 0, false
}

func (n *node) writeNVM(now drivers.Cycle, off uint32, i uint8, v uint64) bool {
	if int(i) >= len(n.nvm) {
		return false
	}
	r := &n.nvm[i]
	r.settle(now)
	switch off {
	case regs.NVMBase(i):
		r.first = v
	case regs.NVMEnd(i):
		r.behind = v
	case regs.NVMRate(i):
		r.rate = v & nvmRateMask
	case regs.NVMDepth(i):
		r.depth = v & nvmDepthMask
	default:
		return false
	}
	n.nvmInUse = false
	for i := range n.nvm {
		n.nvmInUse = n.nvmInUse || n.nvm[i].first < n.nvm[i].behind
	}
	if w := &n.writes; w.held { // the burst that waits looks again
		w.until = now + 1
		n.wake(unitRMA, 0)
	}
	return true
}
