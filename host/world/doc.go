// Package world creates the ranks of a message passing program: it places them on processes,
// divides the DMA memory of their nodes, and runs them.
//
// # Guarantees
//
//   - A [World] has one rank per entry of its [Directory], each with a mailbox, and with RMA if
//     messages may exceed [host.EagerMax] or if Config.Reuse sends eager messages by RMA. It
//     requires of a device only the capabilities that it uses. Time and waiting belong to the
//     [Machine]: [OnClock] is the one for free-running devices, with a goroutine per rank; package
//     bench adapts cosim/vtime for simulated time.
//   - A rank whose function has returned continues to make progress until it has no pending
//     obligations: ends of rendezvous, credits and unsent messages still reach its peers. Programs
//     need no barrier for that. On a [Clock] all ranks make progress until none has obligations.
//   - After a run on simulated time all credits are checked. A lost credit is an error, and so is a
//     message that arrives after its rank has returned.
//   - If a rank fails, the run ends with the error of that rank. On a [Clock], a run in which all
//     ranks wait without an arrival ends after [Clock].Patience with a [*StallError], which lists
//     what each rank is waiting for.
//   - DMA memory need not start at NIC address 0 nor be contiguous: see [Layout].
//
// # Several programs
//
// Config.Mine lists the ranks of this program. Package bootstrap connects programs: it exchanges
// their directories, its Fence is a barrier of all programs before the first send and before
// closing, and its Watch ends the run in every program when one dies. The NICs must be usable by
// several programs: a broker (host/broker, scheme shared:) serves them and owns the translation
// tables, so that ranks of different programs on one node have RMA too. [Join] does all of this in
// one call.
//
// # Requirements for the caller
//
//   - All programs of a world use the same [Config], except for Mine.
//   - A rank is used only by its own function. Data shared between ranks needs synchronisation.
package world
