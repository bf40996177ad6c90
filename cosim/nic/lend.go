package nic

import (
	"fmt"
	"os"
	"runtime"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/sharedmem"
)

// newMemory allocates the memory of one node.
func (m *Machine) newMemory() []byte {
	if !m.cfg.Lent {
		mem, free := newMemory(m.cfg.Memory, len(m.nodes))
		if free != nil {
			runtime.AddCleanup(m, free, mem)
		}
		return mem
	}
	mem, err := sharedmem.New(m.cfg.Memory)
	if err != nil {
		panic("nic: " + err.Error()) // as when the heap has none left
	}
	runtime.AddCleanup(m, sharedmem.Free, mem)
	return mem
}

// Lends reports whether Lend is supported.
func (m *Machine) Lends() bool { return m.cfg.Lent && sharedmem.Supported }

// Lend maps whole pages of a node's memory to a file (drivers.Lender). It must not be called while
// time advances.
func (m *Machine) Lend(node int, off, n uint64, file *os.File, at uint64) error {
	switch {
	case !m.Lends():
		return fmt.Errorf("%w: this machine's memory is not made to be lent", drivers.ErrNotSupported)
	case node < 0 || node >= len(m.nodes):
		return fmt.Errorf("%w: lending memory of node %d: expected 0..%d", drivers.ErrConfig, node, len(m.nodes)-1)
	}
	return sharedmem.Lay(m.nodes[node].mem, off, n, file, at)
}
