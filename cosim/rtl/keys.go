package rtl

import (
	"slices"

	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers/registry"
)

// SimulatorKeys apply to RTL in a simulator process, including meshes with other nodes.
var SimulatorKeys = []registry.Key{
	{Name: "src", Value: "DIR", Doc: "RTL of a working tree, a checkout or its folder rtl, instead of that in the program; description, ports and DPI imports must be the same", SameKind: true},
	{Name: "plusargs", Value: "%2Ba,%2Bb=1", Doc: "arguments of the simulator, separated by commas; + is %2B in a URI", SameKind: true},
	{Name: "patience", Value: "30s", Doc: "how long the simulator may be silent", SameKind: true},
	{Name: "spin", Value: "1ms", Doc: "how long to look for an answer before sleeping; 0s: never", SameKind: true},
}

var (
	ownKeys = []registry.Key{
		{Name: "inside", Value: "1", Doc: "the model in this process: less per crossing", SameKind: true},
		{Name: "clock", Value: "wall", Doc: "time passes by itself; the model is in this process"},
		{Name: "random_init", Value: "7", Doc: "registers and memories start with random values, by this seed, instead of zeros"},
		{Name: "coverage", Value: "DIR", Doc: "a node that counts which lines and toggles it has seen, into a new file of that folder", SameKind: true},
	}
	// pcieKeys apply only with bus=pcie.
	pcieKeys = []registry.Key{
		{Name: "mps", Value: "256", Doc: "largest payload, in bytes: 128, 256 or 512"},
		{Name: "mrrs", Value: "512", Doc: "largest read request, in bytes: 128 to 4096, powers of two"},
		{Name: "phy", Value: "7series128", Doc: "the stream format of a board's hard block and its shim: litepcie, litepcie128, 7series or 7series128; default: none"},
		{Name: "bus_seed", Value: "7", Doc: "all that the bus leaves open is at random, by this seed; with bus=axi too"},
		{Name: "bus_lost", Value: "1e-3", Doc: "chance of a read of a NIC to get no completion"},
		{Name: "bus_late", Value: "1e-3", Doc: "chance of it to get one behind its time-out"},
		{Name: "bus_poisoned", Value: "1e-3", Doc: "chance of it to get one that is poisoned"},
		{Name: "bus_errors", Value: "1e-3", Doc: "chance of it to get one that says UR or CA"},
	}
	lineKeys = []registry.Key{
		{Name: "uart", Value: "pty", Doc: "one board, or two that are linked, behind serial lines"},
		{Name: "baud", Value: "3000000", Doc: "of these lines, in simulated time"},
		{Name: "noise", Value: "1e-5", Doc: "chance of a bit on them to be wrong"},
		{Name: "noise_seed", Value: "7", Doc: "where the random numbers of that start"},
		{Name: "size", Value: "small", Doc: "the small NIC of an iCE40 in loopback instead: two processes, 4 KB"},
		{Name: "netlist", Value: "ice40", Doc: "what synthesis makes of that one, in place of its RTL"},
	}
	// boardKeys are the names of the keys that apply with uart=pty.
	boardKeys = append(registry.KeyNames(lineKeys), "dims", "src", "random_init")
)

// keys returns all keys of a URI.
func keys() []registry.Key {
	return slices.Concat(machine.MeshKeys, machine.LatencyKeys, SimulatorKeys, ownKeys, machine.FaultKeys, []registry.Key{{Name: "bus", Value: "pcie", Doc: "the NIC behind PCIe, or axi: behind AXI in a clock of the host's own; default: the core itself"}, {Name: "ratio", Value: "8/5", Doc: "cycles of the host's clock with bus=axi, in cycles of the core's"}}, pcieKeys, lineKeys)
}
