// Package rendezvous moves messages that are too long for VELO: a pure state machine, one
// [Core] for each rank, in which every protocol is a value behind the small interface [Protocol].
//
// A message begins with an RTS that is matched like any message. After that its two [End]s know
// each other by [ID]: an index and how often that was given out. Nothing is ever recognised by
// where its bytes lie, so sends of overlapping buffers are different transfers, and what is
// said of one that is over is seen to be stale.
//
// # What it promises
//
//   - Every Send and every Receive ends with one [Complete], after its memory was released
//     and when no operation touches that any more.
//   - A receive that ends well has its message. A transfer that fails does so at both ends, with an
//     [*Error] of the same [Code]; if each end has met something of its own, each tells that. No
//     other transfer notices.
//   - RTS of a pair come in the order of the sends. One that cannot go yet keeps its position.
//   - Whoever waits for an ID or for memory gets it in the order of asking; operations of several
//     transfers alternate.
//   - Sends and receives have IDs and memory of their own kinds, and a send waits for memory only when its
//     receiver is ready. So what is held is given back without anything that waits: see Register.
//
// Package explore proves this on this very code, in small worlds: nicloop check rendezvous. A Core
// has no goroutine, clock or I/O, and allocates nothing once it has had its largest number of
// transfers (but for the error of a failed one).
//
// # What the caller must do
//
//  1. After every call, take what there is to do with [Core.Next] until there is nothing, and do it
//     in that order. Answer a [Register] with [Core.Registered] and an operation with
//     [Core.Posted] before anything else.
//  2. Keep the messages of a pair in order. Give a send its position among the messages to that rank when
//     it is begun and put the RTS there when it is told; other control messages go in front of
//     those that have no RTS yet, since they may be what these wait for.
//  3. Match RTS with receives by MPI's rules and call [Core.Receive]; give everything else to [Core.Hear].
//  4. Tell the end of each operation with [Core.Done], and a fault that comes after it with
//     [Core.Faulted]. Operations from one rank to another must be performed in order, and what
//     the first ones met be told before the last one's end.
//  5. Call [Core.Tick] when [Core.Deadline] has come.
//
// # Register
//
// A [Register] finds memory that the hardware reaches and registers it. Its [Class] says for whom:
// [Early] for a send that nobody has received yet, [Received] for a receive, [Late] for a send
// whose receiver has its memory and waits. Early is an optimisation: without it the RTS has no address, and
// the receiver asks with a CTS when it is ready. The answers are an address; [ErrAgain], which is
// asked again after Retry and fails the transfer after Patience; [ErrFull], until a transfer
// here ends, which fails it if none has memory; or another error, which fails it.
//
// The caller keeps something for each of Received and Late that the other and Early do not get. Then
// nobody waits for ever: a late send has all it needs and moves its bytes; a receive
// waits for receives and, through them, for late sends; and nothing that is waited for is held by a send
// that nobody has received.
//
// # rget
//
// The receiver gets the message in one operation and says so. 0 sends to 1:
//
//	rank 0                                   rank 1
//	Send: Register (early)
//	  RTS id=s0.1 address n ───────────────▶ matches a receive
//	                                         Receive: Register (received)
//	        ◀─────────────────────────────── Get n bytes
//	  (hardware) ──────────────────────────▶ Done
//	        ◀───────────────────────── FIN   Release, Complete
//	Release, Complete
//
// The FIN is needed: the sender's hardware can tell that it has read the last fragment, but not that
// the others were not refused, here or there.
//
// Without memory for the early Register:
//
//	  RTS id=s0.1 n ───────────────────────▶ Register (received)
//	        ◀─────────────────────── CTS     id=r0.1
//	Register (late)
//	  READY address ───────────────────────▶ Get …
//
// # chunked
//
// As rget in pieces, a bounded number at a time over all that the rank receives:
//
//	rank 0                                   rank 1 (window 1)
//	  RTS s0.1 n=2 ────────────────────────▶
//	  RTS s1.1 n=1 ────────────────────────▶
//	        ◀─────────────────────────────── Get s0.1, first chunk
//	  ─────────────────────────────────────▶ Done
//	        ◀─────────────────────────────── Get s1.1, its only chunk
//	  ─────────────────────────────────────▶ Done
//	        ◀─────────────────────── FIN     s1.1 is complete
//	        ◀─────────────────────────────── Get s0.1, last chunk
//	  ─────────────────────────────────────▶ Done
//	        ◀─────────────────────── FIN     s0.1 is complete
//
// # rput
//
// The receiver says where the message shall go, the sender puts it there:
//
//	rank 0                                   rank 1
//	Send: Register (early)
//	  RTS id=s0.1 n ───────────────────────▶ matches a receive
//	                                         Receive: Register (received)
//	        ◀─────────────────────── CTS     id=r0.1 address n'
//	Put n' bytes ──────────────────────────▶ (hardware writes)
//	Fence: get of one byte ────────────────▶ (hardware reads)
//	Done (put): the bytes have left
//	        ◀───────────────────────────────
//	Done (fence): they were written
//	  FIN ─────────────────────────────────▶ Release, Complete
//	Release, Complete
//
// A put that is done has left. What it meets at its target is told later, to its origin alone; the
// target's completion tells of the last fragment only. The answer of the fence comes behind
// all that, so with it the sender knows how the puts went, and that none will land any more.
//
// # Cancel
//
// A send can be cancelled until a receive has matched it: CANCEL goes to the receiver, which takes
// the RTS back ([Withdraw]) and answers with a FIN, or lets the transfer take its course. A receive
// that was matched stops where it stands: one that gets lets what is under way end and sends a FIN; one
// that is put to sends ABORT, and its sender stops, fences and sends the FIN.
package rendezvous
