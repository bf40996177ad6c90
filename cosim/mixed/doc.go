// Package mixed is the backend "mixed:": a mesh in which some nodes are the Verilated RTL in a
// process of its own (packages rtl and bridge), and all others the model (cosim/nic on
// cosim/fabric) in this process. A node under test experiences the congestion of a large system at
// little more than the cost of the model. Importing it registers the scheme; it opens a
// drivers.Timed.
//
// # Guarantees
//
//   - Software observes the same behaviour as with rtl:, on every node and to the cycle: the model
//     is exact, and so is the border. The choice of RTL nodes changes only speed and observability.
//   - The guarantees of package bridge: time depends only on the calls, Run stops both sides in the
//     cycle of the event, errors are typed, and nothing is left after Close.
//   - Options.Waves shows the nodes of the RTL. Options.Trace has the trace points of both sides,
//     in order of time; buses only of the RTL's nodes.
//
// As on model:, Run without a deadline detects idle hardware some cycles earlier than on rtl:, and
// the registers of the model's links read as those of error-free wires. Wire faults, and draining
// or resetting links, are refused with drivers.ErrNotSupported, as keys and as registers: a link
// with retransmission needs the RTL at both ends, or the model.
//
// # Synchronisation
//
// At a link between a node of the RTL and one of the model, the simulator contains the model's end
// of the link (cosim/dpi/src/border.h), which converts between words and flits with credits. Frames
// carry these with their cycles, in the batches that are exchanged anyway. In the network of the
// model the RTL's routers are outside (fabric.Outside). A flit takes at least three cycles over a
// link, so each side may simulate a cycle before it knows everything that the other side did in it;
// run.go has the rules. A side whose peer is idle advances alone.
//
// Under vtime the RTL may lead by two cycles (drivers.RunAheadSystem), because the kernel knows the
// next access by software. Other callers see both sides at Now.
//
// Keys of the URI: see keys.go, and "nicloop device list mixed".
package mixed
