// Package reuse finds buffers that are sent from again and again, so that they are worth
// registering: a table of how often each was used (REUSE: chapter 5 of the SPEC dissertation), and
// the two ends of a ring into which eager messages are put.
//
// # What it promises
//
//   - A [Table] counts uses by address, and says of each whether the bytes are copied, or go from
//     the buffer itself ([Verdict]). From a threshold on, which depends on the length
//     ([Costs.Threshold]), it asks for the buffer to be registered. It looks at one entry in most
//     cases, keeps what was registered in that entry, and allocates nothing after [New].
//   - It holds at most Config.Buffers buffers, of which Config.Registered are registered. Below
//     Config.Share percent registered ones it does not grow once chains are long (section 5.3.4);
//     new buffers then wear out old ones that are not used.
//   - After [Table.Invalidate] nothing is known of any byte of that range. What was registered
//     comes back with [Table.Released], once nobody uses it any more; what a use of before has said
//     is of no use from then on.
//   - A [Sender] takes entries of a receiver's ring, a [Receiver] gives them back. No entry is
//     taken twice before it came back, and a message is ready when both its header and its bytes
//     have come, in any order. A sender without an entry is told so and never waits.
//
// It has no clock, memory or I/O of its own. Package explore walks the ring through every
// interleaving of small worlds.
//
// # What the caller must do
//
//   - Answer a [Register] with [Table.Registered] or [Table.Refused] before the next use.
//   - Call [Table.Hold] before the hardware reads from a buffer, and [Table.Drop] when it has.
//   - Call [Table.Invalidate] before memory is given to somebody else, or comes to lie elsewhere.
//   - Take what [Table.Released] gives after each call, and end its registration.
//
// # A buffer of 8 KB
//
// Registering it costs as much as 32 copies. It is registered at a quarter of that, in the hope of
// as many uses again (section 5.3.3):
//
//	use        1 … 7     8           9 …      free      1 …
//	verdict    Copy      Register    Direct   (gone)    Copy
//	                     │                    │
//	                     └ Registered(r)      └ Invalidate → Released gives r
package reuse
