// Package nic is a cycle-exact Go model of the NIC: VELO, RMA, address translation,
// notifications, NVM write limiters and registers of any number of nodes, without the network.
// cosim/model joins it with a network of routers and links, cosim/ideal with a pipe.
//
// # Guarantees
//
//   - Everything that software can observe equals the RTL: registers, refusals, rings, counters,
//     interrupts and backpressure (rtl/README.md).
//   - VELO and RMA take as many cycles as the RTL, also under contention: translation, notifier and
//     memory channels arbitrate as in the RTL, one burst at a time. cosim/differ compares both
//     cycle by cycle. A cycle has the same meaning as in rtl: (cosim/dpi). A line posted for cycle
//     n reaches the bus at edge n + 1 at the earliest, and an event at edge n is reported with
//     cycle n. [Timing] holds the parameters.
//   - Simulated time advances only in Run and ReadReg, and depends only on the sequence of calls.
//   - Cost is proportional to activity: idle nodes are not evaluated and idle cycles are skipped.
//     In steady state no packet allocates memory (free lists).
//   - Config.Parts splits the nodes into partitions of consecutive numbers that threads can
//     simulate in parallel (drivers.Partitioned). Cycles, events and memory are the same as with
//     one partition; a user of drivers.Timed sees no difference.
//
// # Requirements on the network
//
// See [Network]; each partition has its own. Packets are identified by number. A number is valid in
// all partitions until one of them frees the packet. The networks of partitions exchange what takes
// effect at least Lookahead cycles later ([Exchanger]).
//
// # Requirements on the caller
//
// Those of package drivers. If the NIC refuses a posted write, or a DMA write lies outside the
// memory, Run stops at that cycle and returns a *drivers.BusError or *drivers.DMAError in addition
// to the conditions that fired; ReadReg returns these errors with its value. The system remains
// usable afterwards.
package nic
