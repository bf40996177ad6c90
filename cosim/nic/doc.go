// Package nic is the NIC in Go: VELO, RMA, translation, notifications, write
// limiters and registers of any number of nodes, everything but the network. It is
// the one functional twin of the RTL; cosim/model joins it with a network of routers
// and links, cosim/ideal with one that has none.
//
// # What it promises
//
//   - What software can see is what the RTL shows: registers, refusals, rings, counters,
//     interrupts, back-pressure (rtl/README.md).
//   - VELO and RMA take the cycles of the RTL's blocks, also where several want one of them: translation,
//     notifier and the channels of memory serve round-robin, a burst at a time (cosim/differ). A cycle means what it means
//     for rtl: (cosim/dpi): a line posted for cycle n may reach its bus at edge n + 1, and
//     what happens at edge n is reported with cycle n. [Timing] has the parameters.
//   - Simulated time passes in Run and ReadReg only, and depends on the calls alone.
//   - Only what does something costs time: an idle node is not looked at, and idle
//     cycles are skipped. Nothing is allocated per packet once the free lists have grown.
//   - With Config.Parts the nodes are cut into parts of consecutive numbers that
//     threads may simulate side by side (drivers.Partitioned): the same cycles, events and memory
//     as with one part. Whoever uses the Machine as a Timed sees no difference.
//
// # What a network must do
//
// See [Network]; each part has one. A packet is named by its number, the same in all
// parts, until a part takes it back. Between parts networks tell each other what
// happens Lookahead cycles later or more, when they are told to ([Exchanger]).
//
// # What the caller must do
//
// What drivers asks for. A posted write that the NIC refuses, and a DMA write outside
// the memory, make Run stop at that cycle and return a *drivers.BusError or
// *drivers.DMAError besides what fired; ReadReg returns them with its answer. The
// system stays usable.
package nic
