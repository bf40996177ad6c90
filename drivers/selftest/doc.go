// Package selftest tests a NIC and the path to it: registers, DMA, interrupts and links. It uses
// only [drivers.Device] and the registers, so that a bug in the libraries cannot look like a fault
// of the board.
//
// # Guarantees
//
//   - Each check has its own outcome. A failed check reports where, the expected and the actual
//     value (for memory, the first differing offset) and what to do. A check that the device does
//     not support reports why it was skipped.
//   - Memory around everything that the NIC writes is filled with guard bytes and compared
//     afterwards.
//   - Every interrupt cause of every process is raised and must be cleared.
//   - Link traffic is a PRBS of period 2^31 - 1, in full packets between nodes. Retransmissions by
//     the links count as faults.
//   - The data written depend only on [Config]. In simulated time, the measured rates do, too.
//   - All changes are undone unless the device dies: every process is left without a domain, as
//     after reset.
//
// # Obligations of the caller
//
//   - Have exclusive use of the device. No check starts while a process has a domain ([ErrInUse]).
//   - Provide [MemoryBytes] of memory per node; its contents are overwritten.
//
// # Limits
//
// The NIC has no link loopback: a link is tested only if both its ends are nodes of the system. A
// packet to its own node passes the router, but no link.
package selftest
