// Package rma is the user-level library of the RMA engine: one process reads and
// writes memory that another has registered, without that other's processor.
// README.md is the contract, operation by operation.
//
// # What it promises
//
//   - A [Port] posts operations with one store each ([Port.Put], [Port.Get],
//     [Port.PutAhead], [Port.PutImmediate], [Port.Notify], [Port.FetchCompareAdd]) or says
//     [ErrTryAgain]. Operations from one process to another are performed in
//     order; up to Config.Outstanding are under way at once.
//   - [Port.Poll] takes the next event off the notification ring. It reads memory
//     alone. The ring has an entry for every notification that the process's own
//     operations can raise: they never make the hardware wait.
//   - An operation that fails says so with a [FaultError], once. A failed fragment
//     has touched no memory.
//   - An [ATU] owns a node's translation tables. A page that was unmapped is
//     given out again only when the hardware has forgotten it.
//   - [Port.Register] is cheap when it repeats: regions stay mapped after
//     [Port.Release] until the limits of the cache or of the tables need the entries.
//   - Nothing here blocks, and operations and events allocate nothing (but for
//     the FaultError of a failed one).
//
// # What the caller must do
//
//   - Leave a local buffer alone, and its region registered, until the operation
//     is done ([Event].Last, [Port.Done]).
//
//   - Poll: handles come back through the ring, and peers' notifications need
//     entries in it too. A full ring makes the whole node's RMA wait.
//
//   - Keep the memory of processes that must not reach each other in different
//     pages of 4 KB: protection is by page.
//
//   - Use a Port from one goroutine. An ATU may be used from several, one for each port.
package rma
