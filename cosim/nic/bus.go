package nic

import "github.com/nicloop/nicloop/drivers"

// A bus is what of RMA's bytes is between a unit and memory. Memory takes a burst that is written in the cycle of its last beat,
// and reads a burst in the cycle of its address, all of it at once and behind what is written in the same cycle: rtl/sim/host_bus.sv.
type bus struct {
	landings queue[landing]
	load     loading // in this cycle
}

// A landing is a burst that reaches memory in a cycle, by then also if its packet has been forgotten.
type landing struct {
	at   drivers.Cycle
	addr uint64
	data []byte
}

// A loading is a burst whose address goes out.
type loading struct {
	span
	into []byte
}

// land has a burst reach memory in a cycle, not before the one that was told last.
func (b *bus) land(at drivers.Cycle, w *burst) {
	*b.landings.grow() = landing{at, w.addr, w.data}
}

func (b *bus) due() drivers.Cycle {
	if b.landings.n == 0 {
		return drivers.Forever
	}
	return b.landings.first().at
}

// settleBus does what memory does now.
func (n *node) settleBus(now drivers.Cycle) {
	b := &n.bus
	for b.due() <= now {
		w := *b.landings.first()
		b.landings.drop()
		at := span{w.addr, uint64(len(w.data))}
		copy(n.dma(at), w.data)
		n.written(at)
	}
	if b.load.into != nil {
		copy(b.load.into, n.dma(b.load.span))
		b.load.into = nil
	}
}
