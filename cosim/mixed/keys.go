package mixed

import (
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers/registry"
)

// Keys of the URI, by the side that they concern.
var (
	ownKeys = []registry.Key{
		{Name: "rtl", Value: "5,9", Doc: "the nodes that are RTL; at least one, not all"},
		{Name: "nodes", Value: "64", Doc: "number of nodes if neither --nodes nor dims gives it; 2 to 64"},
	}
	bothKeys = machine.MeshKeys
	rtlKeys  = rtl.SimulatorKeys
	refused  = append([]registry.Key{{Name: "wire_latency"}}, machine.FaultKeys...)
)
