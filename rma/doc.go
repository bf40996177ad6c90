// Package rma is the user-level library of the RMA engine: a process reads and writes memory that
// another process has registered, without involving the other's processor. README.md specifies
// every operation.
//
// # Guarantees
//
//   - A [Port] posts each operation with one store ([Port.Put], [Port.Get], [Port.PutUnsignaled],
//     [Port.PutImmediate], [Port.Notify], [Port.FetchCompareAdd]) or returns [ErrTryAgain].
//     Operations from one process to another are performed in order; up to Config.Outstanding of
//     them may be outstanding.
//   - [Port.Poll] takes the next event from the notification ring, without reading a register. The
//     ring has an entry for every notification of the process's own operations, so they never stall
//     the hardware.
//   - A failed operation is reported once, as a [FaultError]. A failed fragment changed no memory.
//   - An [ATU] owns the translation tables of a node. It reuses the entries of an unmapped page
//     only after the NIC has dropped its cached translation.
//   - Repeated calls of [Port.Register] are cheap: a region stays mapped after [Port.Release] until
//     its entries are needed.
//   - Only Close and Evict block. Only a FaultError allocates memory.
//
// # Obligations of the caller
//
//   - Do not modify a local buffer, and keep its region registered, until the operation is done
//     ([Event].Last, [Port.LocallyComplete]).
//   - Poll: operations complete through the ring, and notifications from peers need entries in it.
//     A full ring stalls all RMA of the node.
//   - Keep memory of processes that must not reach each other in different 4 KB pages.
//   - Use a Port from one goroutine. Goroutines may share an ATU.
package rma
