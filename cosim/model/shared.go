package model

import (
	"fmt"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Shared network has routers that are not the nodes': a Dragonfly or a fat tree.
type Shared struct {
	*fabric.Routed
	name string // as the key topology has it
	nics int    // nodes that have one: the first
}

// sharedOf reads the key topology, of a network in which so many nodes have a NIC (0: all). Beside
// it no other key may say what the network is, or be of links that software can see.
func sharedOf(text string, keys map[string]string, nodes int) (*Shared, error) {
	for _, k := range append(registry.KeyNames(machine.FaultKeys), "dims", "torus") {
		if _, given := keys[k]; given {
			return nil, fmt.Errorf("%w: topology=%s and %s: routers that several nodes share have no dims, and no wires with registers; leave one of the two out",
				drivers.ErrConfig, text, k)
		}
	}
	t, err := topology.Parse(text, fabric.DefaultLinkCycles, fabric.DefaultLinkCycles)
	if err != nil {
		return nil, err
	}
	if nodes == 0 {
		nodes = t.Nodes()
	}
	switch n := t.Nodes(); {
	case n > regs.HeaderNodes:
		return nil, fmt.Errorf("%w: topology=%s has %d nodes: expected at most %d, which is what headers can name", drivers.ErrConfig, text, n, regs.HeaderNodes)
	case nodes > n:
		return nil, fmt.Errorf("%w: topology=%s has %d nodes, but %d are asked for: give at most --nodes %d, or a larger one", drivers.ErrConfig, text, n, nodes, n)
	}
	r, err := fabric.NewRouted(t)
	if err != nil {
		return nil, fmt.Errorf("%w: topology=%s: %w; a mesh is dims=4x4x4, a torus has torus=1 besides", drivers.ErrConfig, text, err)
	}
	return &Shared{r, text, nodes}, nil
}

// parts is how many parts of so many have nodes with a NIC; where not all have, one does it.
func (s *Shared) parts(most int) int {
	if cuts := s.Cuts(most); cuts[most-1] >= s.nics {
		return 1
	}
	return most
}

// cuts are the first nodes of the parts, and how many have a NIC.
func (s *Shared) cuts(parts int) []int {
	cuts := s.Cuts(parts)
	cuts[parts] = s.nics
	return cuts
}
