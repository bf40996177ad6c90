// Package model is the backend behind "model:": the NICs of package cosim/nic on
// the network of package cosim/fabric, in this process. Importing it registers the
// scheme; what it opens is a drivers.Timed.
//
// # What it promises
//
//   - What software sees is what rtl: shows, timing included: [Params] holds the cycles of the
//     blocks, which "nicloop calibrate" measures. Package cosim/differ measures the difference.
//
//   - The promises of cosim/nic: time depends on the calls alone, idle costs nothing.
//
//   - With Options.Trace, every flit at its injection, on every link and at its
//     ejection, heads as they arrive from a link, every line, slot and dropped packet.
//     Of memory, the addresses of reads and writes and the last beat of writes; flags say who is
//     served, from 1 on, in the order of the muxes in nic_rma.
//
//   - Links repair what their wires break, and fail, as the RTL's do. With the same keys or the
//     same writes to the registers of wires, the same words are hit in the same cycles, and all
//     that follows is the same. A wire that nobody has written to costs nothing; a network whose
//     wires all have been takes about five times as long.
//
// It has no waveforms.
//
// A link is simulated word by word from the first write to a register of one of its wires, or the
// first LINK_CTRL.reset of an end, on (fabric.Fabric.Expose). If that comes in the middle of
// traffic, what is on its way over the link gets there unharmed, and up to eight flits behind it
// while VELO has the network to itself; the link counts as one that was still. With a trace, or if
// another wire had been written to before, all is as if it had been simulated so from the start,
// unless the link had no pause for long: then the words that carry no flit may be others than the
// RTL's, which shows when they are hit. A write before the traffic, such as that of link_seed,
// avoids all that. On two threads a link between their parts must have been written to before they
// start; otherwise the write is refused with drivers.ErrNotSupported.
//
// # Larger networks
//
// A mesh may have up to 4,096 nodes, if no way leads through more than HOP_MAX routers. With the
// key topology the network is a Dragonfly or a fat tree (fabric.Routed), whose routers have several
// nodes, or none: software finds no registers of routes, links and wires. A packet's way is the
// same for all that its pair sends, which so stays in order by classes. Nodes beyond 63 are named
// by regs.Pio.To. Options.Trace is told of the wires between such routers at drivers.PointPort.
//
// # Keys of the URI
//
// Those of keys.go: "nicloop device list model".
//
// Options must say how many nodes unless dims or topology does; memory defaults to 1 MiB a node.
package model
