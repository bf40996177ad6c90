// Package host is message passing over VELO and RMA: ranks, communicators, requests and
// collectives, as MPI has them.
//
// # What it promises
//
//   - A message of up to [EagerMax] bytes travels through VELO packets (FC paper, sections 3 and
//     5.3). A longer one travels by a [Rendezvous] over RMA, without a copy if its buffers lie in
//     DMA memory ([Rank.Alloc]). [Reuse], [Eager] and [Rank.UseLocal] add further paths:
//     [Rank.Paths] lists them, and the packages below host/path describe them.
//   - Messages of one sender match receives in the order in which they were sent, whatever path
//     their bytes take; a receive may name any source and any tag. A message that is longer than
//     its receive's buffer is an error.
//   - A long message that fails does so at both ends, with a [rendezvous.Error]; other messages and
//     the rank continue. Memory, tables and descriptors that are short make it wait, not fail. A
//     put without a rendezvous (Reuse, Eager) that the hardware refuses ends the rank with an
//     error, because its message has been announced.
//   - Communicators ([Comm.Dup], [Comm.Split]; [Comm.Free] gives their contexts back) keep messages
//     and collectives apart. The [Rank] itself is the communicator of the world.
//   - Requests are waited for one by one, any, some or all of a list. Persistent ones
//     ([Comm.SendInit], [Comm.RecvInit]) are started again and again without an allocation.
//   - A collective has several algorithms under their usual names ([Collective.Algorithms]). One is
//     chosen by ranks and bytes, from times measured on model: (table.go), or fixed for a
//     communicator ([Comm.SetAlgorithm]).
//   - Nonblocking collectives ([Comm.Ibcast] and its kin) continue whenever their rank makes
//     progress. Any number may be in progress, begun in the same order at all members.
//   - A message may be taken from a buffer, and put into one, in blocks ([Vector], [Indexed]):
//     packed and unpacked by copying.
//   - Reductions are typed ([Sum], [Product], [Min], [Max], [And], [Or], [Xor]: integers and
//     floating-point numbers of 4 and 8 bytes) or the caller's own ([Elements], [Op]). Buffers that
//     are no whole number of elements are refused.
//   - A rank that waits makes progress: it keeps taking packets out of its mailbox and returning
//     credits. [Rank.Waiting] says at any moment what it waits for; hang verdicts are made of that.
//
// # How it is built
//
// The protocols are pure cores without clock and hardware: host/match pairs messages with receives,
// host/rendezvous moves long messages, host/threshold decides which of them are eager, host/reuse
// finds buffers that are used again. The packages below host/path connect each core to the mailbox,
// the RMA port and the clock. A collective is a schedule of messages (schedule.go) that an
// algorithm has made (rooted.go, mutual.go, reduce.go).
//
// # What the caller must do
//
//   - Give every rank a [Proc], which is all that a rank knows of its machine: simulated time
//     (package vtime) or the wall clock. Ranks may run in parallel, each in its own goroutine.
//     Package host/world makes them.
//   - Use a Rank from its own function only.
//   - Call Dup, Split and the collectives of a communicator at all its members, in the same order.
//   - Call [Rank.Linger] when the function of a rank has returned, as host/world does: others may
//     wait for the ends of their rendezvous, which need credits.
//   - Give all ranks the same Reuse and Eager, or none, and room for [Reuse].Bytes and
//     Eager.Buffers in the heap.
//   - Leave the heap of [RMA] room for four of the longest messages beyond what [Rank.Alloc] gives
//     out, if buffers lie outside DMA memory: half of that is kept for a receive and for a send
//     that has matched, so that sends which have not cannot keep them waiting.
//
// Unexpected messages wait in buffers of the simulator's own; those that [Contents] knows wait by
// their name. Neither takes simulated time. Host work takes time by the model in host/path/cost.go,
// the one place with its numbers.
package host
