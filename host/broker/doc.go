// Package broker owns a device and serves it to other programs of the same user on this machine, as
// a kernel driver would: what belongs to one process each has, and what belongs to the node only
// the broker. The other end is package drivers/shared.
//
// # What it promises
//
//   - A client has the processes that it claimed and nobody else has: their pages of registers,
//     their send windows, and on each node a piece of DMA memory in a file of its own, which no
//     other client ever maps. Where rings lie, of which domain its processes are, and which pages
//     are in the translation tables is checked; all other registers are the broker's. So no client
//     reaches memory or a mailbox of a process that is not of its world.
//   - Translation tables are the broker's, and register pages of a client's own piece for it:
//     programs that share a node can have RMA.
//   - A domain is the world's that has claimed it first, for as long as any of its programs lives.
//   - What a client does wrong – an access that is not its own, a frame that makes no sense, a line
//     to a window that is off – ends that client, with an error that says so. A full mailbox holds
//     others up for no longer than Config.Hold cycles altogether.
//   - When a client ends, by itself or by a signal, its processes are shut in the NIC: windows and
//     rings off, what waits drained or discarded, pages forgotten, out of the domain. Its memory
//     leaves the node, and then the numbers are free. What does not leave the NIC keeps the numbers
//     until it does.
//   - When the device dies or the broker is closed, all clients are told.
//   - The socket is its user's alone (package usersock).
//
// # What the caller must do
//
//   - Open the system with Needs, and use it for nothing else; close it after the broker.
package broker
