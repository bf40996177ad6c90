// Package threshold adapts the eager threshold of each pair of ranks at run time (H. Subramoni, S.
// Chakraborty, D. K. Panda, "Designing Dynamic and Adaptive MPI Point-to-point Communication
// Protocols", ADAPT). It is a pure state machine with one [Core] per rank.
//
// An eager message that is too long for VELO needs memory at its receiver before a receive is
// posted. Each side of a channel therefore has buffers in DMA memory for the other side's messages.
// A message takes the shortest empty buffer that is long enough, is put there when it is sent, and
// is copied to its destination when it is received. This costs a copy and memory, but avoids the
// wait of a rendezvous, which makes no progress while the application computes.
//
// # Guarantees
//
//   - A message owns its buffer from [Core.Take] until [Core.Read], also across a change of the
//     channel. A message without a buffer uses a rendezvous; messages never wait for a buffer.
//   - The handshake [Full] never stops a channel. [Partial] stops it until both sides know each
//     other's buffers. [NotReady] uses streams instead of channels: a message is put only into the
//     buffer of its receive, and a receive that is ready completes or is taken back before another
//     message may land there.
//   - A change ends with the same threshold at both sides, either the new or the old one. A side
//     without memory answers -1 and is not asked again (section 3.2).
//   - A rank has at most Config.Cap bytes of buffers, of at most Config.Stocks lengths (section
//     3.3), and with Config.Pool at most that many of each. A channel that runs short gets more
//     buffers, up to Config.Most times its threshold; a buffer that is idle for Config.Idle, times
//     its weight, is returned (section 4.4).
//
// Package explore proves this for this code in small worlds: nicloop check threshold. A Core has no
// goroutine, clock or I/O.
//
// # Requirements for the caller
//
//  1. After every call, take the actions from [Core.Next] until there are none. A message that is
//     InOrder follows everything started before; others may overtake waiting messages, but not each
//     other.
//  2. Send the address of a message's buffer to the receiver in the order of the messages, and call
//     [Core.Filled] there. Call [Core.Read] when the receive has copied the bytes, all of which
//     must have landed.
//  3. Call [Core.Came] for each message that arrives by rendezvous, and [Core.Ended] when it ends.
//  4. After an action with Last, send only messages with Outside until Resume.
//  5. Call [Core.Tick] with the time before handling events of that time, and several times per
//     Config.Idle.
//
// # Full in-band
//
// Section 4.2. Both sides use the old buffers until the new ones are known. The order of messages
// determines when the old ones are no longer used. Rank 0 is the initiator:
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
// If both sides start a change, the lower rank is the initiator. If the initiator lacks memory for
// the threshold that the peer agreed to, its NEW_REQ carries -1.
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
// A message in an old buffer stays there until it is read. Waiting for that could deadlock: the
// receive may itself be waiting for a message that the stopped channel holds back.
//
// # Length
//
// The paper's buffers are as long as the threshold, because any peer may fill any of them. Here a
// buffer belongs to one peer, whose messages the rank has seen. The first buffer is an eighth
// longer than the longest message of the last profile; a buffer that is added for a message that
// found none is an eighth longer than that message. Lengths are multiples of an eighth of a power
// of two, because a power of two above the mean would be twice the length of most messages. With a
// fixed threshold all buffers have its length, because no messages have been seen when they are
// created.
//
// # When, and to what
//
// A [Policy] evaluates windows of messages of a channel. Overlap is lost if the call was
// non-blocking and computation lasted at least half as long as the remaining transfer (section
// 3.1). The new threshold is the mean length, rounded up to a power of two, plus an offset (section
// 3.2). Blocking calls never lose overlap, because nothing runs concurrently.
//
// # As published
//
// The zero Config deviates from the paper. [Config.AsPublished] does not, except where the hardware
// forces it to:
//
//	                      zero Config                    AsPublished
//	trigger (3.1)         half of what remained          half of the estimated transfer
//	mean length (3.2)     either direction, the larger   messages sent by the initiator
//	header (3.2)          not counted                    counted
//	buffers (3.3)         per peer, for its messages     a pool per threshold for all peers
//	one-way flow (3.3)    buffers on both sides          buffers at the receiver
//	reclaiming (4.4)      after Idle                     after Idle times the weight of the buffer
//
// A receive queue that is shared by all peers needs hardware that assigns a buffer when a message
// arrives. Here a put names its address, so a buffer of the pool is lent to one peer at a time, and
// recalled when another one needs it. The paper does not state its weights; they double here with
// every buffer that is recalled too early.
//
// # Receiver not ready
//
// Section 4.5 describes a third design without buffers and without a message before the bytes: a
// queue pair per tag, whose NIC retries until the receiver has posted a receive. Here ([Streams],
// [NotReady]) a stream consists of the messages of one tag from one rank to another. Its receiver
// reserves Config.Gates gates: address ranges that are unmapped until a receive buffer is mapped to
// one. A put to an unmapped gate is refused, and no byte of the refused fragments is written. This
// NIC reports the refusal to the sender, whose core probes after Config.Retry with a get of one
// byte. When a probe succeeds, the whole put is repeated.
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
// Why this is correct:
//
//   - A receive is readied before its message is known only if every earlier receive that could
//     take that message is ready for another one. Receives with wildcards therefore prevent it. The
//     receive gets the next number after theirs. Any other receive is readied after matching.
//   - All messages of a stream are numbered. A message that is too long or too short for it travels
//     as usual, but keeps its number: PASSED reports that it has matched.
//   - A receive readied in advance must have room for the longest message of the stream, because
//     the message lands before it is checked. A shorter receive waits for its match.
//   - If only some fragments of a put are refused because the gate was just opened, the whole put
//     counts as refused.
//   - A receive that is to be cancelled is taken back first (CLOSE, CLOSED, REOPEN): until the
//     sender has confirmed that it has stopped, a message may be in flight, and then the receive
//     gets it. A numbered send cannot be cancelled.
//
// The paper's objections apply here, too: a pair needs a stream per tag, limited by Config.Stocks;
// at most Config.Gates messages of a stream are in flight; and there are no retries while the
// sender's core computes, whereas an InfiniBand adapter retries by itself. The design needs neither
// buffers nor copies.
package threshold
