// Package model is the backend "model:": the NICs of package cosim/nic on the network of package
// cosim/fabric, in this process. Importing it registers the scheme; it opens a drivers.Timed.
//
// # Guarantees
//
//   - Software observes the same behaviour as with rtl:, including timing. [Params] holds the
//     cycles of the blocks, measured by "nicloop calibrate"; package cosim/differ compares the two.
//
//   - The guarantees of cosim/nic: time depends only on the calls, and idle cycles cost nothing.
//
//   - Options.Trace reports every flit at its injection, on every link and at its ejection, heads
//     when they arrive from a link, and every line, slot and dropped packet. Memory accesses are
//     reported with the addresses of reads and writes and the last beat of writes; flags identify
//     the requester, from 1 on, in the order of the muxes in nic_rma.
//
//   - Links retransmit corrupted words, and fail, like those of the RTL. With the same keys or
//     register writes, the same words are hit in the same cycles, with the same consequences. Wires
//     without register writes cost nothing; a network in which all wires have been written to takes
//     about five times as long.
//
// There are no waveforms.
//
// A link is simulated word by word after the first write to a register of one of its wires, or the
// first LINK_CTRL.reset at either end (fabric.Fabric.Expose). If this happens during traffic, flits
// in flight on the link arrive unharmed, and so do up to eight flits after them while VELO has the
// network to itself; the link is treated as if it had been idle. With a trace, or if another wire
// was written to before, the result is the same as if the link had been simulated word by word from
// the start, unless it had no pause for a long time: then words without a flit may differ from the
// RTL's, which matters only if they are hit. A write before the traffic, for example of link_seed,
// avoids these differences. With two threads, links between their parts must be written to before
// the run; otherwise the write is refused with drivers.ErrNotSupported.
//
// # Larger networks
//
// A mesh may have up to 4,096 nodes if no route passes more than HOP_MAX routers. With the key
// topology the network is a Dragonfly or a fat tree (fabric.Routed), whose routers have several
// nodes or none; registers of routes, links and wires do not exist. All packets of a pair take the
// same route, so their order is kept within a class. Nodes above 63 are addressed with regs.Pio.To.
// Options.Trace reports the wires between such routers as drivers.PointPort.
//
// # Keys of the URI
//
// See keys.go, and "nicloop device list model".
//
// Options must set the number of nodes, unless dims or topology does. Memory defaults to 1 MiB per
// node.
package model
