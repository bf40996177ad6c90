package pcie

// store posts a quadword. An atomic store would read the device first (XCHG).
//
//go:noinline
func store(p *uint64, v uint64) { *p = v }
