// Package threshold changes, for each pair of ranks by itself and while it sends, up to which
// length messages are eager (H. Subramoni, S. Chakraborty, D. K. Panda, "Designing Dynamic and
// Adaptive MPI Point-to-point Communication Protocols", ADAPT): a pure state machine, one [Core]
// for each rank.
//
// An eager message beyond what VELO carries needs memory at its receiver before anybody receives
// it. So each side of a channel has buffers for what the other may send, in DMA memory. A message
// takes the shortest that is empty and long enough, is put there when it is sent, and copied to
// where it belongs when it is received. It costs a copy and that memory, and spares the wait of a
// rendezvous, in which nothing moves while the application computes.
//
// # What it promises
//
//   - A message has a buffer of its own from [Core.Take] until [Core.Read], whatever the channel
//     does meanwhile. One that finds none goes by a rendezvous: no message ever waits for a buffer.
//   - The handshake [Full] never stops a channel. [Partial] does, until both have each other's
//     buffers. [NotReady] has no channels, but streams: a message is put where its receive is, and
//     nowhere else, and a receive that is ready is over or taken back before another message may
//     land there.
//   - A change ends at both sides with one threshold, or at both with that of before: a side that
//     has no memory says -1, and is not asked again (section 3.2).
//   - A rank has at most Config.Cap bytes of buffers, of at most Config.Stocks lengths (section
//     3.3). A channel that runs short of buffers gets more up to what Config.Most of its threshold
//     hold, and what was not used for Config.Idle goes back (section 4.4).
//
// Package explore proves this on this very code, in small worlds: nicloop check threshold. A Core
// has no goroutine, clock or I/O.
//
// # What the caller must do
//
//  1. After every call, take what there is to do with [Core.Next] until there is nothing. A message
//     that is InOrder goes behind all that was begun before; others may pass messages that wait,
//     but not each other.
//  2. Tell the receiver the address of a message's buffer in the order of the messages, and call
//     [Core.Filled] there; call [Core.Read] when the receive has copied the bytes, all of which
//     have landed.
//  3. Call [Core.Came] for each message that came by a rendezvous, and [Core.Ended] at the end of
//     each.
//  4. Send nothing behind an action that is Last, but what is Outside, until Resume.
//  5. Call [Core.Tick] with the time before what happens then, and a few times in Config.Idle.
//
// # Full in-band
//
// Section 4.2. Both sides go on using the old buffers until the new ones are known; the order of
// messages says when the old ones are not used any more. 0 is the initiator:
//
//	rank 0                                              rank 1
//	overlap lost: REQ threshold ──────────────────────▶ has memory: takes it
//	takes memory ◀──────────────────────────────── REP  the larger of both wishes, or -1
//	      NEW_REQ 0's buffers ────────────────────────▶
//	      ◀──────────────────────── NEW_REP 1's buffers
//	      EST, the last behind old buffers ───────────▶ sends by the new threshold; its old buffers are
//	sends by the new threshold                          free, or will be when they are read
//	      ◀──────────────────────────────────────── EST
//	old buffers are free
//	      ACK ────────────────────────────────────────▶ over
//	over  ◀──────────────────────────────────────── ACK
//
// If both begin, the lower rank is the initiator. If the initiator has no memory for what the peer
// agreed to, NEW_REQ says -1.
//
// # Partial in-band
//
// Section 4.1, after the same REQ and REP:
//
//	rank 0                                              rank 1
//	      RECONN_REQ ─────────────────────────────────▶
//	stops                                               stops
//	      ◀───────────────────────────────── RECONN_REP
//	      OUT_REQ 0's buffers ────────────────────────▶ its old buffers go, it sends again
//	goes on ◀────────────────────── OUT_REP 1's buffers
//
// A message that is in an old buffer stays there until it is read: who waited for that would wait
// for a receive that may itself wait for what the stopped channel has.
//
// # Length
//
// The paper's buffers are as long as the threshold, as any peer may fill any of them. Here a buffer
// has one peer, whose messages the rank has seen: the first is an eighth longer than the longest of
// the last profile, one more is made for a message that found none, an eighth longer than that.
// Lengths go in eighths of a power of two. A power of two above the mean would be twice what most
// messages need. A fixed threshold is the length of all its buffers, since nothing was seen when
// they are made.
//
// # When, and to what
//
// A [Policy] looks at some messages of a channel at a time. Overlap is lost if a non-blocking call
// was made, and computation has lasted at least half as long as what was then left of the message
// (section 3.1). The wish is the mean length, rounded up to a power of two, and an offset (section
// 3.2). A blocking call never loses overlap: nothing is beside it.
//
// # Receiver not ready
//
// Section 4.5 has a third design, without buffers and without a message in front of the bytes: a
// queue pair for each tag, whose NIC asks the receiver again and again until that has posted a
// receive. Here ([Streams], [NotReady]) a stream is the messages of one tag from one rank to
// another. The receiver has Config.Gates gates for it: addresses that lead nowhere until a
// receive's buffer is put behind them. A put to a closed gate is refused, and no byte of the
// refused fragments is written; this NIC tells its sender so, and the sender's core asks again
// after Config.Retry, by a get of one byte, which moves nothing. When that is answered the put is
// done once more, whole.
//
//	rank 0                                              rank 1
//	overlap lost: STREAM_REQ tag bytes ─────────────────▶ reserves gates
//	       ◀────────────────────────── STREAM_REP address, for each gate; 0: no
//	STREAM_OPEN, in order: messages of the tag are numbered from here on, at both ends alike
//
//	                                                    a receive is posted: its gate opens
//	message 0 (its number and length, in order) ──────▶ matches it, by MPI's rules
//	put to gate 0, get of a byte behind it ═══════════▶
//	       ◀═══════════════════════════ refused, or done
//	LANDED 0 ─────────────────────────────────────────▶ the receive has its bytes; the gate is shut
//	       ◀───────────────────────────────── PASSED 0  the hardware has forgotten what was behind it
//	message 2 may be put; message 1 was, to gate 1
//
// What makes that right:
//
//   - A receive is readied before its message is known only if each receive in front of it that
//     could take that message is ready for another one, so none that takes any source or tag is. It
//     then gets the number behind theirs. Any other is ready when its message has matched it.
//   - All messages of a stream are numbered. One that is too long or short for it travels as ever,
//     but has its turn: PASSED says when it has matched.
//   - It must have room for the longest message of the stream, since that lands before anybody has
//     looked at it. A shorter one waits for its match.
//   - Some fragments of a put may meet a gate that has just opened. It counts as refused.
//   - A receive that is to be cancelled is asked back (CLOSE, CLOSED, REOPEN): until the sender has
//     said that it puts nothing, a message may be on its way, and then the receive has it. A
//     numbered send is not cancelled.
//
// What the paper holds against it is so here: a pair needs a stream for each tag, Config.Stocks
// bounds them, only Config.Gates messages of a stream are under way, and nothing is asked again
// while the sender's core computes, which an InfiniBand adapter does by itself. It needs neither
// buffers nor copies.
package threshold
