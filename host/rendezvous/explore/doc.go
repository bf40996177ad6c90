// Package explore runs the real rendezvous core through every interleaving of small worlds: sends,
// receives, control messages, operations and their completions, time, and all failures.
//
// # Invariants
//
// In every reachable state:
//
//   - Every request completes once. A request that fails has an error that names its peer, and its
//     message was affected by a failure.
//   - A receive that completes without error has the bytes that its message had when it was sent,
//     although the sender's application changes its buffer as soon as the send completes.
//   - Memory is released once, when no operation can access it, and operations access no other
//     memory.
//   - Messages match in MPI's order independent of their protocol. Bytes that were put before the
//     match are in the receive that matches.
//   - The number of operations in flight stays within the limit of the protocol.
//
// In every final state everything has completed, both ends of a transfer report the same result
// (unless each detected a failure of its own), and no ID, memory or operation is left.
//
// # The world
//
// A [World] contains the unmodified core. Its environment is as weak as the core's contract allows:
// control messages of a pair arrive in order; operations of a pair are performed in order, the
// bytes of a put leaving earlier; faults of puts are reported in order with the responses of gets.
// Events of different pairs and ranks interleave freely. [Options] limit the number of failures,
// each of which may occur at every step. States are identified by half of a SHA-256.
//
// Deliberate mistakes ([Plants]) are injected around the core, in its messages and actions or by a
// wrapper of a protocol. The core itself contains none of them.
package explore
