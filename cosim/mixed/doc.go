// Package mixed is the backend behind "mixed:": a mesh in which some nodes are the Verilated RTL,
// in a process of their own (packages rtl and bridge), and all others the model (cosim/nic on
// cosim/fabric), in this one. A node under test sees the congestion of a large system for little
// more than the model costs. Importing it registers the scheme; what it opens is a drivers.Timed.
//
// # What it promises
//
//   - What software sees is what rtl: shows, on every node and to the cycle: the model is exact,
//     and so is the border. Which nodes are RTL changes nothing but speed and what can be looked
//     into.
//   - The promises of package bridge: time depends on the calls alone, Run stops both sides at the
//     very cycle of what stopped it, errors are typed, and nothing outlives Close.
//   - Options.Waves shows the nodes of the RTL. Options.Trace has the trace points of both sides,
//     in order of time; buses of the RTL's nodes only.
//
// As on model:, Run without a deadline sees that the hardware is quiet some cycles sooner than on
// rtl:, and the registers of the model's links read as those of wires that break nothing. Faults of
// wires are refused with drivers.ErrNotSupported, as keys and as registers, and so are links that
// drain or are reset: a link that repairs itself needs the RTL at both ends, or the model.
//
// # How the sides meet
//
// At a link between a node of the RTL and one of the model the simulator has the model's end of the
// link (cosim/dpi/src/border.h), which turns words into flits and credits and back. Frames carry
// these with their cycles, in the batches that go to and fro anyway. In the network of the model
// the RTL's routers stand outside (fabric.Outside). A flit is three cycles and more on its way over
// a link, so each side may do a cycle before it knows all that the other did in it; run.go has the
// rules. When nothing can happen on one side the other goes on alone.
//
// Under vtime the RTL may lead by two cycles (drivers.RunAheadSystem), since the kernel knows when
// software uses it next; whoever else drives the system sees both sides stand at Now.
//
// Keys of the URI: keys.go, and "nicloop device list mixed".
package mixed
