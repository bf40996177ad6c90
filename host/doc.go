// Package host implements MPI-style message passing over VELO and RMA: ranks, communicators,
// requests and collectives.
//
// # Guarantees
//
//   - A message of up to [EagerMax] bytes travels in VELO packets (FC paper, sections 3 and 5.3). A
//     longer one is moved by a [Rendezvous] over RMA, without a copy if its buffers are in DMA
//     memory ([Rank.Alloc]). [Reuse], [Eager] and [Rank.UseLocal] add further paths: [Rank.Paths]
//     lists them, and the packages below host/path describe them.
//   - Messages from one sender match receives in the order in which they were sent, whichever paths
//     they take. A receive may name any source and any tag. A message that is longer than the
//     buffer of its receive is an error.
//   - A failed long message is reported at both ends with a [rendezvous.Error]; other messages and
//     the rank continue. A lack of memory, table entries or descriptors delays a message and never
//     fails it. If the hardware refuses a put without rendezvous (Reuse, Eager), the rank ends with
//     an error, because the message has already been announced.
//   - Communicators ([Comm.Dup], [Comm.Split], [Comm.Free]) separate messages and collectives. The
//     [Rank] itself is the communicator of the world.
//   - Requests are awaited one by one, or any, some or all of a list. Persistent requests
//     ([Comm.SendInit], [Comm.RecvInit]) are restarted without an allocation.
//   - A collective has several algorithms under their usual names ([Collective.Algorithms]). The
//     number of ranks and bytes selects one, by times measured on model: (table.go), unless
//     [Comm.SetAlgorithm] fixes it for a communicator.
//   - Nonblocking collectives ([Comm.Ibcast] etc.) advance whenever their rank makes progress. Any
//     number may be in progress; all members begin them in the same order.
//   - Messages may be scattered in a buffer in blocks ([Vector], [Indexed]): they are packed and
//     unpacked by copying.
//   - Reductions are typed ([Sum], [Product], [Min], [Max], [And], [Or], [Xor] of integers and
//     floating-point numbers of 4 and 8 bytes) or defined by the caller ([Elements], [Op]). The
//     length of their buffers must be a multiple of the element size.
//   - A rank that waits makes progress: it polls its mailbox and returns credits. [Rank.Waiting]
//     describes what it waits for; deadlock reports are made of it.
//
// # Design
//
// The protocols are pure state machines without clock and hardware: host/match pairs messages with
// receives, host/rendezvous moves long messages, host/threshold adapts the eager threshold,
// host/reuse detects buffers that are used repeatedly. The packages below host/path connect them to
// the mailbox, the RMA port and the clock. A collective is a schedule of messages (schedule.go)
// that an algorithm has built (rooted.go, mutual.go, reduce.go).
//
// # Duties of the caller
//
//   - Give every rank a [Proc], its only connection to the machine: simulated time (package vtime)
//     or the wall clock. Ranks may run in parallel, each in a goroutine of its own. Package
//     host/world creates them.
//   - Use a Rank from its own function only.
//   - Call Dup, Split and the collectives of a communicator at all its members, in the same order.
//   - Call [Rank.Linger] after the function of a rank has returned, as host/world does: the last
//     control messages of its rendezvous may still wait for credits, and peers wait for them.
//   - Give all ranks the same Reuse and Eager configuration, and space for [Reuse].Bytes and
//     Eager.Buffers in the heap.
//   - If buffers are outside DMA memory, leave space in the heap of [RMA] for four of the longest
//     messages beyond what [Rank.Alloc] allocates. Half of it is reserved for one receive and one
//     matched send, so that unmatched sends cannot block them.
//
// Unexpected messages are kept in buffers of the simulator; those that [Contents] can regenerate
// are kept by name. Neither takes simulated time. The time of host work follows the cost model in
// host/path/cost.go, which holds all of its numbers.
package host
