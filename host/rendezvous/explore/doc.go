// Package explore runs the real rendezvous core through every interleaving of small worlds:
// sends, receives, control messages, operations and their ends, time, and whatever can fail.
//
// # What is proved
//
// In every state that can be reached:
//
//   - every request ends once; one that fails has an error that names its peer, and something has
//     happened to its message;
//   - a receive that ends well has the bytes that its message had when it was sent, though the
//     sender's application changes its buffer as soon as it may;
//   - memory is given back once, when no operation can touch it, and operations touch
//     nothing else;
//   - messages match in MPI's order, whichever way they travel, and bytes that were put before that
//     was known are in the receive that matches;
//   - no more operations are under way than a protocol allows.
//
// And where nothing can happen any more: everything is over, both ends of a transfer say the same
// (unless each has met something of its own), and no ID, memory or operation is left.
//
// # The world
//
// A [World] has the core as it is. What is around it is as small as its contract allows: control
// messages of a pair arrive in order; operations of a pair are performed in order, a
// put's bytes leaving before that; what a put meets is told in order with the answers of gets.
// Events of different pairs and ranks mix freely. [Options] bound how many things fail,
// and each may fail at every step. States are told apart by half of a SHA-256.
//
// Deliberate mistakes are planted around the core ([Plants]): in what it says and hears, or as a
// protocol value around a real one. The core has no room for them.
package explore
