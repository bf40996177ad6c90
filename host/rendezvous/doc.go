// Package rendezvous transfers messages that are too long for VELO. It is a pure state machine with
// one [Core] per rank; each protocol is a value of the small interface [Protocol].
//
// A message starts with an RTS, which is matched like any message. Afterwards its two [End]s
// identify each other by [ID], an index with a generation. A transfer is never identified by the
// address of its bytes, so sends of overlapping buffers are distinct transfers, and messages about
// a finished transfer are recognised as stale.
//
// # Guarantees
//
//   - Every Send and every Receive ends with exactly one [Complete], after its memory was released
//     and when no operation can access that memory.
//   - A receive that completes without error has its message. A transfer fails at both ends, with
//     an [*Error] of the same [Code]; if both ends detect a failure independently, each reports its
//     own. Other transfers are not affected.
//   - RTSs of a pair are sent in the order of the sends. An RTS that is not ready keeps its
//     position.
//   - IDs and memory are allocated in the order of the requests; operations of several transfers
//     alternate.
//   - Sends and receives use separate IDs and memory, and a send waits for memory only when its
//     receiver is ready. Resources are therefore always released without depending on a waiting
//     end: see Register.
//
// Package explore proves this for this code in small worlds: nicloop check rendezvous. A Core has
// no goroutine, clock or I/O. It does not allocate after it has reached its maximum number of
// transfers, except for the error of a failed one.
//
// # Requirements for the caller
//
//  1. After every call, take the actions from [Core.Next] until there are none, and execute them in
//     that order. Answer a [Register] with [Core.Registered] and an operation with [Core.Posted]
//     before any other call.
//  2. Keep the messages of a pair in order. Reserve a position for a send among the messages to
//     that rank when it starts, and put its RTS or claim there when the core requests it. Other
//     control messages overtake messages that have no RTS or claim yet, because these may be
//     waiting for them.
//  3. Match RTSs and claims with receives by MPI's rules and call [Core.Receive]; pass all other
//     control messages to [Core.Hear].
//  4. Report the completion of gets and fences with [Core.Done], and faults of puts with
//     [Core.Faulted]. Operations from one rank to another must be performed in order, and faults of
//     earlier operations must be reported before the completion of a later one.
//  5. Call [Core.Tick] at [Core.Deadline].
//  6. To speculate, count messages: call [Core.Sent] for each eager message when it takes its
//     position, and [Core.Came] for each message before it is matched. Call [Core.Offer] for an
//     unmatched receive and, if it is an offer, [Core.Matched] or [Core.Overtaken] in place of
//     Receive.
//
// # Register
//
// A [Register] allocates DMA memory and registers it. Its [Class] is the purpose: [Early] for a
// send that no receive has matched yet, [Received] for a receive, [Late] for a send whose receiver
// is ready and waiting. Early is an optimisation: without it the RTS carries no address, and the
// receiver asks for it with a CTS when it is ready. The answers are an address; [ErrAgain], which
// is retried every Retry and fails the transfer after Patience; [ErrFull], which waits until a
// transfer of this rank ends, or fails if none holds memory; or another error, which fails the
// transfer.
//
// The caller reserves memory for each of Received and Late that neither the other nor Early can
// use. This prevents deadlock: a late send has everything that it needs to move its bytes; a
// receive waits only for other receives and, through them, for late sends; and a send without a
// matching receive never holds a resource that others wait for.
//
// # rget
//
// The receiver gets the message in one operation and reports completion. Rank 0 sends to rank 1:
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
// The FIN is needed: the sender's hardware can report that the last fragment was read, but not
// whether earlier fragments were refused at either end.
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
// Like rget in chunks, with a limited number in flight over all messages that the rank receives:
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
// The receiver sends the target address, the sender puts the message there:
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
// A fault of a put at its target is reported to the origin only; the completion at the target
// covers the last fragment only. The response of the fence follows all of these, so it tells the
// sender how the puts ended, and that none of them is in flight. It also implies that they have
// left the origin; a notification for that would cost the sender's core another event (bench,
// TestProfileOfSender).
//
// # spec
//
// A receive that is posted before its message arrives sends its address in advance, with an RTR.
// The sender puts the message there as soon as it is sent, and neither end has to call the library
// while the other computes (SPEC, section 4.2).
//
//	rank 0                                   rank 1
//	                                         Irecv, nothing has come: Offer: Register (early)
//	        ◀─────────────────────── RTR     id=r0.1 for=0+0 address n
//	Send: message 0, the RTR is for it
//	  CLAIM id=s0.1 to=r0.1 n' ────────────▶ matches that receive
//	Register (late)
//	Put, Fence, FIN: as rput
//
// A blocking send leaves its RTR unused while a message is being got from that peer: operations of
// a pair are performed in order, so its put would wait for that get (bench, TestPutBehindGet).
//
// Without an RTR a send is an rget. Every message therefore makes progress regardless of RTRs, and
// it is always clear which end starts (section 4.2.4).
//
// An RTR must identify its message, otherwise bytes arrive in the wrong buffer (section 4.2.3,
// Figures 4.7 to 4.10). Both ends number the messages of a pair identically, in counters (each
// envelope uses one, shared with few others): the sender when messages take their positions, the
// receiver when they arrive. An RTR names "the message after the SEEN messages that I have counted
// and the AHEAD messages of my earlier offers". The sender uses it for that message only:
//
//	the message is …                           the RTR is …
//	not begun                                  kept, and taken when it is started
//	begun, and waits for a name                kept, and taken when it has one
//	told of by an RTS                          crossed: of no use; the RTS matches that receive
//	eager, or of another protocol              mispredicted: of no use; it matches that receive
//	behind one of another envelope, in         of no use: the numbers behind that are wrong
//	 its counter, that was begun after SEEN
//
// The receiver thus learns the outcome of its RTR from the message itself and needs no other
// answer. States of an offer at the receiver:
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
// A receive with a wildcard is never offered, nor is a receive behind one that could get the same
// message and is not an offer, because it is unknown which message it will get (Figure 4.9). Offers
// use memory like early sends, leave a name to receives whose messages have arrived, and are
// limited per peer. A cancelled offer withdraws all RTRs of its counter, because the later receives
// then get other messages than those that their RTRs name; claims made before arrive before the
// answer. [Adaptation] describes when RTRs are paused.
//
// # Cancel
//
// A send can be cancelled until a receive has matched it: CANCEL goes to the receiver, which
// withdraws the RTS ([Withdraw]) and answers with a FIN, or lets the transfer continue. A receive
// that was matched, or whose RTR was claimed, stops at its current point: if it gets, it waits for
// the operations in flight and sends a FIN; if it is put to, it sends ABORT, and its sender stops,
// fences and sends the FIN.
package rendezvous
