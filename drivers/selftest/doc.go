// Package selftest looks for what is broken in a NIC and the way to it: registers, DMA, interrupts, links. It knows nothing but
// [drivers.Device] and the registers, so that a fault of the libraries is none of the board's.
//
// # What it promises
//
//   - A check ends with an outcome of its own. One that failed says where, what was expected and found, and what to do; of bytes the
//     first offset that differs. One that the device cannot have says why it was left out.
//   - Memory around everything that the NIC writes is filled beforehand and compared afterwards (guard bytes).
//   - Every cause of an interrupt is raised, of every process, and seen to end.
//   - Data on links is a PRBS of 2^31 - 1 bits, in whole packets, from node to node; words that the links had to repair are faults too.
//   - What is written is the same for the same [Config]; on simulated time figures are, too.
//   - All that is changed is put back, unless the device ends in the middle: every process is left without a domain, as after reset.
//
// # What the caller must do
//
//   - Have the device alone. Nothing is begun while a process has a domain ([ErrInUse]).
//   - Give it [MemoryBytes] of memory per node, whose contents are lost.
//
// # What it cannot see
//
// The NIC has no loopback of a link: a link is looked at if both of its ends are nodes of the system. A packet that goes to its own node
// passes the router, and no link.
package selftest
