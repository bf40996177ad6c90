// Package explore runs both ends of a ring (reuse.Sender, reuse.Receiver) through every
// interleaving of small worlds. In a world there are a sender with some messages and a receiver
// that posts its receives at any time. Headers arrive in order, and bytes arrive in order, but the
// two streams are independent; the network delays either without limit.
//
// # Invariants
//
// In every reachable state:
//
//   - A receive contains the bytes that its message had when it was sent, although the application
//     changes its buffer as soon as the send has completed.
//   - Receives match messages in MPI's order, independent of the path of the message: with its
//     header (eager), through the ring, or by a rendezvous that fetches the bytes after matching.
//   - Bytes are written to an entry only when its previous contents are no longer needed.
//   - Nobody blocks: a sender without an entry uses another path.
//
// In every final state all messages were received, and every entry is free or waits to be returned,
// too few for a message of their own. A final state can be reached from every state (package
// modelcheck).
//
// Deliberate mistakes (Plants) are made in the code around the ends; each one is found.
//
// The package consists of tests only; no command offers these worlds.
package explore
