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
//   - Sends and receives have IDs and memory of their own kinds, and a send waits for memory only
//     when its receiver is ready. So what is held is given back without anything that waits: see
//     Register.
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
//  2. Keep the messages of a pair in order. Give a send its position among the messages to that
//     rank when it is begun and put the RTS or the claim there when it is told; other control
//     messages go in front of those that have neither yet, since they may be what these wait for.
//  3. Match RTS and claims with receives by MPI's rules and call [Core.Receive]; give everything
//     else to [Core.Hear].
//  4. Tell the end of each get and fence with [Core.Done], and of puts nothing but a fault, with
//     [Core.Faulted]. Operations from one rank to another must be performed in order, and what
//     the first ones met be told before the last one's end.
//  5. Call [Core.Tick] when [Core.Deadline] has come.
//  6. To speculate, count: [Core.Sent] for each message that carries its own bytes, when it takes
//     its position, [Core.Came] for each message that is about to be matched. Call [Core.Offer] for
//     a receive that nothing has matched, and in place of Receive [Core.Matched] or
//     [Core.Overtaken] if it is an offer.
//
// # Register
//
// A [Register] finds memory that the hardware reaches and registers it. Its [Class] says for whom:
// [Early] for a send that nobody has received yet, [Received] for a receive, [Late] for a send
// whose receiver has its memory and waits. Early is an optimisation: without it the RTS has no
// address, and the receiver asks with a CTS when it is ready. The answers are an address;
// [ErrAgain], which is asked again after Retry and fails the transfer after Patience; [ErrFull],
// until a transfer here ends, which fails it if none has memory; or another error, which fails it.
//
// The caller keeps something for each of Received and Late that the other and Early do not get.
// Then nobody waits for ever: a late send has all it needs and moves its bytes; a receive waits for
// receives and, through them, for late sends; and nothing that is waited for is held by a send that
// nobody has received.
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
// The FIN is needed: the sender's hardware can tell that it has read the last fragment, but not
// that the others were not refused, here or there.
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
//	        ◀───────────────────────────────
//	Done (fence): they were written
//	  FIN ─────────────────────────────────▶ Release, Complete
//	Release, Complete
//
// What a put meets at its target is told to its origin alone; the target's completion tells of the
// last fragment only. The answer of the fence comes behind all that, so with it the sender knows
// how the puts went, and that none will land any more. It knows then that they have left, too: that
// is told of no put by itself, which would take the sender's core once more (bench,
// TestProfileOfSender).
//
// # spec
//
// A receiver that comes first says where its message shall go before it knows of it, with an RTR,
// and its sender puts it there when it comes: neither has to call anything while the other computes
// (SPEC, section 4.2).
//
//	rank 0                                   rank 1
//	                                         Irecv, nothing has come: Offer: Register (early)
//	        ◀─────────────────────── RTR     id=r0.1 for=0+0 address n
//	Send: message 0, the RTR is for it
//	  CLAIM id=s0.1 to=r0.1 n' ────────────▶ matches that receive
//	Register (late)
//	Put, Fence, FIN: as rput
//
// A send whose caller does nothing until it is over leaves its RTR while a message is being got
// from that peer: operations of a pair are performed in order, so its put would wait for that get
// (bench, TestPutBehindGet).
//
// Without an RTR for it a send is an rget: so each message moves whatever becomes of RTRs, and
// there is always somebody to begin (section 4.2.4).
//
// Which message an RTR is for must be known, or bytes land where others belong (section 4.2.3,
// Figures 4.7 to 4.10). Both ends number the messages of a pair alike, in counters (an envelope has
// one, and shares it with few others): the sender as they take their positions, the receiver as
// they come. An RTR says "the one after the SEEN that I have seen and the AHEAD that others of my
// offers wait for". The sender takes it for that message, and for no other:
//
//	the message is …                           the RTR is …
//	not begun                                  kept, and taken when it is started
//	begun, and waits for a name                kept, and taken when it has one
//	told of by an RTS                          crossed: of no use; the RTS matches that receive
//	eager, or of another protocol              mispredicted: of no use; it matches that receive
//	behind one of another envelope, in         of no use: the numbers behind that are wrong
//	 its counter, that was begun after SEEN
//
// So a receiver sees from its message what has become of its RTR, and needs no other answer. What
// it is, at the receiver:
//
//	         no memory          RTS (any protocol)
//	  ┌───── OFFERED ─────────┬────────────────────▶ a receive with memory: Get, CTS, …
//	  │       │ ▲             │ CLAIM
//	  │       │ └ Register    ├────────────────────▶ a receive that is put to: FIN
//	  │       │               │ eager
//	  ▼       │ Cancel        ├────────────────────▶ Release, Forget: the receive has its bytes
//	Forget    ▼               │ REVOKED, not cancelled itself
//	         REVOKE ──────────┼────────────────────▶ Release, Forget: waits without RTR
//	                          │ REVOKED
//	                          └────────────────────▶ Release, Unpost, Complete: cancelled
//
// No receive is offered that takes any source or tag, nor any behind a receive that could get the
// same message and is not offered: nobody knows which message it will get (Figure 4.9). Offers take
// memory as early sends do, leave a name to receives that have their messages, and are bounded by
// peer. A cancelled offer asks for all RTRs of its counter, since receives behind it get other
// messages than was said; the claims that were made before come before the answer. See [Adaptation]
// for when RTRs stop.
//
// # Cancel
//
// A send can be cancelled until a receive has matched it: CANCEL goes to the receiver, which takes
// the RTS back ([Withdraw]) and answers with a FIN, or lets the transfer take its course. A receive
// that was matched, or whose RTR was claimed, stops where it stands: one that gets lets what is
// under way end and sends a FIN; one that is put to sends ABORT, and its sender stops, fences and
// sends the FIN.
package rendezvous
