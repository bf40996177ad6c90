// Package broker owns a device and serves it to several programs of the same user on this machine,
// in the role of a kernel driver: each program gets the resources of its own processes, while the
// resources of the node stay with the broker. Package drivers/shared is the client.
//
// # Guarantees
//
//   - A client has exclusive use of the processes that it claimed: their register pages, their send
//     windows, and on each node a piece of DMA memory in a file of its own, which no other client
//     can map. The broker checks ring addresses, protection domains and page mappings, and keeps
//     all other registers to itself. A client can therefore reach neither memory nor mailboxes of
//     processes outside its world.
//   - The broker owns the translation tables and registers pages of a client's own piece on
//     request, so programs that share a node can use RMA.
//   - A protection domain belongs to the world that claimed it first, as long as one of its
//     programs is alive.
//   - A protocol violation (access to a foreign resource, a malformed frame, a store to a disabled
//     window) disconnects that client with an error that describes it. A full mailbox stalls other
//     traffic for at most Config.Hold cycles in total.
//   - When a client exits or is killed, its processes are shut down in the NIC: windows and rings
//     are disabled, queued packets drained or discarded, pages unmapped, the domain left. Then its
//     memory is detached and its claims are freed. If the NIC does not release a process, its claim
//     stays taken until it does.
//   - When the device dies or the broker is closed, all clients are notified.
//   - Only the user's own programs can connect to the socket (package usersock).
//
// # Requirements for the caller
//
//   - Open the system with Needs, do not use it otherwise, and close it after the broker.
package broker
