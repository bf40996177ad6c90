// Package explore runs the real ends of a ring (reuse.Sender, reuse.Receiver) through every
// interleaving of small worlds: a sender with some messages, a receiver that posts its receives
// whenever it likes, headers that come in order and bytes that come in order, but neither with the
// other, and a network that keeps what it has for as long as it likes.
//
// # What is proved
//
// In every state that can be reached:
//
//   - a receive has the bytes that its message had when it was sent, though the application changes
//     its buffer as soon as the send is done;
//   - receives match messages in MPI's order, whichever way they travel: with a header of their own
//     (eager), by the ring, or by a rendezvous, whose bytes are fetched when it has matched;
//   - bytes land in an entry only when nobody needs what was there;
//   - nobody waits: a sender without an entry sends otherwise.
//
// And where nothing can happen any more: all messages were received, and every entry is home or
// owed to the sender with less than would make a message. Such an end can be reached from every
// state (package modelcheck).
//
// Deliberate mistakes (Plants) are made around the ends; each is found.
//
// The package has tests only; no command offers these worlds.
package explore
