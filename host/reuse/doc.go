// Package reuse finds send buffers that are used often enough to be worth registering (REUSE:
// chapter 5 of the SPEC dissertation). It contains a table that counts the uses of each buffer, and
// both ends of a ring through which eager messages travel by RMA.
//
// # Guarantees
//
//   - A [Table] counts uses by address and decides for each use whether to copy the bytes or to
//     send them from the buffer itself ([Verdict]). From a threshold on, which depends on the
//     length ([Costs.Threshold]), it asks the caller to register the buffer. A lookup examines one
//     entry in most cases. The table keeps the registration in that entry and does not allocate
//     after [New].
//   - It holds at most Config.Buffers buffers, of which Config.Registered are registered. Once
//     chains are long, it stops growing while fewer than Config.Share percent are registered
//     (section 5.3.4); new buffers then age out unused old ones.
//   - After [Table.Invalidate] the table holds no information about any byte of that range.
//     Registrations are returned by [Table.Released] once nobody holds them; results of earlier
//     uses become invalid.
//   - A [Sender] allocates entries of a receiver's ring, a [Receiver] returns them. An entry is not
//     reused before it was returned. A message is complete when both its header and its bytes have
//     arrived, in either order. A sender without a free entry is told immediately and never blocks.
//
// The package has no clock, memory or I/O of its own. Package explore checks the ring in every
// interleaving of small worlds.
//
// # Requirements for the caller
//
//   - Answer a [Register] with [Table.Registered] or [Table.Refused] before the next use.
//   - Call [Table.Hold] before the hardware reads from a buffer, and [Table.Drop] afterwards.
//   - Call [Table.Invalidate] before memory is freed, reused or remapped.
//   - Drain [Table.Released] after each call and deregister what it returns.
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
