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

// A Shared network has routers that do not belong to nodes: a Dragonfly or a fat tree.
type Shared struct {
	*fabric.Routed
	name string // value of the key topology
	nics int    // number of nodes with a NIC: the first ones
}

// sharedOf parses the key topology of a network in which the given number of nodes has a NIC (0:
// all). Other keys that describe the network, or links visible to software, are refused.
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

// parts is the number of parts, up to most, that have nodes with a NIC. It is one if not all of
// them have.
func (s *Shared) parts(most int) int {
	if cuts := s.Cuts(most); cuts[most-1] >= s.nics {
		return 1
	}
	return most
}

// cuts returns the first nodes of the parts, followed by the number of nodes with a NIC.
func (s *Shared) cuts(parts int) []int {
	cuts := s.Cuts(parts)
	cuts[parts] = s.nics
	return cuts
}
