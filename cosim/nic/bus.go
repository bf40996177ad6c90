package nic

import "github.com/nicloop/nicloop/drivers"

// When memory takes and gives the bytes of RMA: a burst that is written in the cycle of its last
// beat, one that is read in that of its address, all of it at once and before what is written in
// the same cycle (rtl/sim/host_bus.sv).

// A landing is a burst of RMA that has not reached memory yet.
type landing struct {
	at   drivers.Cycle
	addr uint64
	data []byte
}

// landings are ordered by the cycle in which they reach memory.
type landings struct{ queue queue[landing] }

func (l *landings) add(at drivers.Cycle, b *burst) { *l.queue.grow() = landing{at, b.addr, b.data} }

func (l *landings) due() drivers.Cycle {
	if l.queue.n == 0 {
		return drivers.Forever
	}
	return l.queue.first().at
}

// land writes the bursts that are due to memory.
func (n *node) land(now drivers.Cycle) {
	for n.landings.due() <= now {
		w := *n.landings.queue.first()
		n.landings.queue.drop()
		at := span{w.addr, uint64(len(w.data))}
		copy(n.dma(at), w.data)
		n.written(at)
	}
}
