// Package explore runs the real threshold core through every interleaving of small worlds: sends,
// changes started by either side, messages, landing bytes, receives, idle buffers, and shortage of
// memory.
//
// # Invariants
//
// In every reachable state:
//
//   - Bytes land only in a buffer that their receiver holds for their sender, that is long enough
//     and contains no other message, and they stay until they are read.
//   - Messages of a pair arrive once and in order, independent of their path.
//   - The full in-band handshake never stops a channel.
//   - Buffers do not overlap, and no rank exceeds its limits of bytes and lengths.
//
// In every final state all messages were read, all changes are complete, both sides of a channel
// have the same threshold, and every buffer is known as empty to the rank that may use it.
//
// Under the handshake for receivers that are not ready:
//
//   - A fragment lands only in the buffer of a posted, uncompleted receive that has room for it and
//     that holds no other message and will be matched with this one.
//   - A receive that completes has all fragments of its message; messages are matched by MPI's
//     rules and numbered identically at both ends.
//   - A gate is opened only if it is closed and the hardware no longer caches its previous mapping.
//
// For both: a final state can be reached from every state, so there are no endless retries. In a
// final state no event is possible, all messages were received, cancellations have completed, and
// no stream is waiting.
//
// # The world
//
// A [World] contains the unmodified core. The network keeps the order of a pair, except for
// messages that need not keep it, which may overtake the others. Bytes land in the order of their
// pair, at any time after sending. Messages without a buffer stand for a rendezvous. Deliberate
// mistakes are injected around the core ([Plants]): in its messages and in the behaviour of its
// caller.
package explore
