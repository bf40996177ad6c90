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

// An nvmRange is a range of slow memory with a write buffer that drains at a rate. A burst enters
// the buffer when it fits. The hardware computes the free space, and the range of an address, one
// cycle late; therefore the state before the last change remains effective for one more cycle.
type nvmRange struct {
	nvmState
	before  nvmState
	entered drivers.Cycle // when the last burst passed
	bytes   uint64        // of it
	written uint64
	waited  uint64
}

// An nvmState is valid from edge at on; level is the fill level of the buffer after that edge.
type nvmState struct {
	first, behind      uint64
	rate, depth, level uint64
	at                 drivers.Cycle
}

func (s *nvmState) hit(addr uint64) bool { return addr >= s.first && addr < s.behind }

// drained returns the level after an edge.
func (s *nvmState) drained(at drivers.Cycle) uint64 {
	if at <= s.at {
		return s.level
	}
	cycles := uint64(at - s.at)
	if cycles > s.level/(8*s.rate) {
		return 0
	}
	return s.level - cycles*8*s.rate
}

// after returns the state that was valid after an edge.
func (r *nvmRange) after(edge drivers.Cycle) *nvmState {
	if edge < r.at {
		return &r.before
	}
	return &r.nvmState
}

// change begins a new state at an edge with the present level.
func (r *nvmRange) change(at drivers.Cycle) {
	r.before = r.nvmState
	r.level, r.at = r.drained(at), max(r.at, at)
}

// empty returns the edge after which the buffer is empty and registers show it.
func (r *nvmRange) empty() drivers.Cycle {
	if step := 8 * r.rate; r.level > 0 {
		return r.at + drivers.Cycle((r.level+step-1)/step) + 1
	}
	return 0
}

// seen is the age in cycles of the level by which a burst is judged, not counting the edge itself.
const seen = 2

// fits returns the first cycle, not before from, in which a burst may enter.
func (r *nvmRange) fits(from drivers.Cycle, addr, bytes uint64) drivers.Cycle {
	ready := drivers.Cycle(0)
	if r.bytes > 0 {
		ready = r.entered + 3
	}
	for ; from-seen < r.at; from++ { // judged by what was before
		if s := r.after(from - seen); !s.hit(addr) || from >= ready && s.drained(from-seen) <= s.target(bytes) {
			return from
		}
	}
	if !r.hit(addr) {
		return from
	}
	from = max(from, ready)
	target := r.target(bytes)
	level := r.drained(from - seen)
	if level <= target {
		return from
	}
	step := 8 * r.rate
	return from + drivers.Cycle((level-target+step-1)/step)
}

// target is the highest level at which a burst fits.
func (s *nvmState) target(bytes uint64) uint64 {
	if s.depth > bytes {
		return (s.depth - bytes) << nvmFraction
	}
	return 0
}

// enter adds a burst that passes at a cycle. The level includes it from the next cycle on.
func (r *nvmRange) enter(at drivers.Cycle, bytes uint64) {
	level := r.drained(at)
	r.change(at + 1)
	r.level = level + bytes<<nvmFraction - 8*r.rate
	r.entered, r.bytes = at, bytes
	r.written += bytes
}

// fits returns when a burst may enter all buffers that its address belongs to, as far as is known.
func (n *node) fits(now drivers.Cycle, addr, bytes uint64) drivers.Cycle {
	at := now
	for i := range n.nvm {
		at = max(at, n.nvm[i].fits(now, addr, bytes))
	}
	return at
}

// enterNVM adds a burst to the buffers that its address belongs to.
func (n *node) enterNVM(now, waited drivers.Cycle, addr, bytes uint64) {
	for i := range n.nvm {
		if r := &n.nvm[i]; r.after(now - seen).hit(addr) {
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
		return (r.after(now-seen).drained(now-seen) + 1<<nvmFraction - 1) >> nvmFraction, true
	case regs.NVMBytes(i):
		if r.bytes > 0 && now < r.entered+2 {
			return r.written - r.bytes, true
		}
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
	r.change(now)
	switch off {
	case regs.NVMBase(i):
		r.first = v
	case regs.NVMEnd(i):
		r.behind = v
	case regs.NVMRate(i):
		r.rate = max(1, min(v&nvmRateMask, nvmFullRate)) // rate 0 would block all writes of the node
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
		n.p.wheel.cancelFar(unitRMA, n.id-n.p.first)
		w.until = now + 1
		n.wake(unitRMA, 0)
	}
	return true
}
