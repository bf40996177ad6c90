// Package host is message passing over VELO and RMA: ranks, tag matching, eager
// and long messages, collectives.
//
// # What it promises
//
//   - A message of up to [EagerMax] bytes is cut into VELO packets behind a
//     16-byte header (FC paper, sections 3 and 5.3: 37 packets for 2 KB) and
//     reassembled at the receiver. A longer one travels by a [Rendezvous] over
//     RMA, without a copy if its buffers lie in DMA memory ([Rank.Alloc]).
//   - By [Reuse] messages up to 9 KB go eager by RMA, into a ring that the receiver keeps for each sender, with nothing but a header by VELO; from buffers of
//     [Rank.Alloc] that are used often without a copy (reuse.go). No sender waits for an entry of a ring: without one it sends as ever. [Window] has puts and gets
//     that do the same. What [Rank.Free] and [Rank.FreeAll] take back is forgotten.
//   - Messages of one sender match receives in the order in which they were sent,
//     whatever way they travel; a receive may name any source and any tag
//     (package match). A message longer than its receive's buffer is an error.
//   - By [Spec] a receive that is posted early tells its sender where its message shall go, and receives and sends of long messages make
//     progress at their start: so either side can compute beside a message, whoever comes first (SPEC, section 4.2). A receive
//     whose sender was told can be cancelled only with that one's help, which makes progress in its calls.
//   - With [Eager] buffers a message of up to its channel's threshold, which may change by itself, is put into one at its receiver when it is
//     sent, and copied when it is received (package threshold). What finds no buffer goes by a rendezvous. A put that the hardware refuses there
//     ends the rank with an error, for its message has gone.
//   - A long message that fails does so at both ends, with a
//     [rendezvous.Error]; other messages and the rank go on. Memory, tables and descriptors
//     that are short make it wait, not fail.
//   - Communicators ([Comm.Dup], [Comm.Split]; [Comm.Free] gives their contexts back) keep messages and collectives apart: what is sent in one is
//     received in it alone. The [Rank] itself is the communicator of the world.
//   - Requests are waited for one by one, any, some or all of a list; persistent ones ([Comm.SendInit],
//     [Comm.RecvInit]) are started again and again without an allocation, and told once for each [Rank.Start].
//   - A collective has several algorithms under their usual names ([Collective.Algorithms]); which one is chosen by ranks and
//     bytes, from times measured on model: (table.go), or fixed for a communicator ([Comm.SetAlgorithm]).
//   - Collectives that do not wait ([Comm.Ibcast] and its kin) go on whenever their rank makes progress, whatever
//     it waits for; any number may be under way, begun in the same order at all members.
//   - A message may be taken from a buffer, and put into one, in blocks ([Vector], [Indexed]): packed and unpacked by copying.
//   - Reductions are typed ([Sum], [Product], [Min], [Max], [And], [Or], [Xor]: integers and floating-point numbers of
//     4 and 8 bytes) or the caller's own ([Elements], [Op]); bytes that are no whole elements are refused, and
//     so is another number of them than here.
//   - A rank that has to wait makes progress: it keeps taking packets out of its
//     mailbox and returning credits.
//   - What a rank waits for can be asked at any moment ([Rank.Waiting]): hang
//     verdicts are made of it.
//
// # How it is built
//
// The protocols are pure cores: package match pairs messages with receives, package rendezvous moves
// the long ones, package threshold says which of them are eager, package reuse finds buffers that are used again and counts the entries of
// rings. A [Rank] is the shell around them: mailbox, port, heap, and the time that all
// this takes. A collective is a schedule of messages (schedule.go) that an algorithm has made (rooted.go, mutual.go, reduce.go),
// and is walked through or goes on by itself. shell.go does what the rendezvous core asks for, message.go what VELO carries.
//
// # What the caller must do
//
//   - Give every rank a [Proc], which is all that a rank knows of its machine:
//     simulated time (package vtime) or the wall clock. Ranks may run in parallel, each in its own goroutine. Package world makes them.
//   - Call Dup, Split and the collectives of a communicator at all its members, in the same order.
//   - Let a rank whose function has returned make progress until it owes nothing ([Rank.Linger]), as package world does: it has
//     all it wants, but others may wait for the ends of their rendezvous, which need credits.
//   - Use a Rank from its own function only.
//   - With Reuse: the same at all ranks, and room for its [Reuse].Bytes in the heap. A put into a ring that the hardware refuses ends the rank with an error, for its receiver
//     cannot be told in time; a rendezvous fails alone.
//   - Leave the heap of [RMA] room for four of the longest messages beyond what [Rank.Alloc] gives out, if
//     buffers lie outside DMA memory: half of that is kept for a receive and for a send that has matched,
//     so that sends which have not cannot keep them waiting. Eager.Buffers is taken from its end.
//   - Give all ranks the same Eager, or none: what one puts into a buffer another must have.
//
// Unexpected messages wait in buffers of the simulator's own; those that [Contents] knows wait by their name. Neither takes simulated time.
//
// Host work takes time by the model in cost.go, the one place with its numbers.
package host
