// Package packets simulates a network of routers with deep buffers, packet by packet, to the cycle.
// It is for networks of thousands of nodes, where package fabric, which has the RTL's shallow
// buffers, would take a hundred times as long.
//
// # The router
//
// A router has a queue per input port and VC, with room for Depth flits in whole packets. Packets
// use virtual cut-through and are not interleaved:
//
//   - The packet at the front of a queue is routed in the cycle in which its head arrives, or in
//     which the tail of the previous packet has left. It then requests an output until it gets it,
//     which requires room for the whole packet behind the output's wire on its VC.
//   - In each cycle the router considers the front packets that have room and whose input and
//     output are free, starting with the queue that was served longest ago; each gets its output
//     unless an earlier one took its input or its output. Both are then busy until the packet's
//     tail has crossed: Speedup flits per cycle, but none before it has arrived.
//   - An output that was given to younger requests 16 times, while an older one with room waited
//     for its input, is held for the older one, and so is the input, until both are free.
//   - An output's wire carries whole packets, one flit per cycle, in the order in which they
//     crossed; a head is on the wire RouterCycles after it began to cross at the earliest.
//   - The room of a packet is returned when its tail has left, with the latency of a flit on the
//     wire.
//
// A node has room for one queue at its router and one behind its output, which it empties at its
// own pace ([Config.Slow]).
//
// # Allocation, compared with BookSim2
//
// Arbitration is least recently served, per queue, with one order for all outputs. It is a greedy
// maximal matching by priority, as computed by BookSim2's prio_wavefront in one pass over its
// diagonals. The priority is the time since the queue was served, which is what BookSim2's matrix
// arbiter keeps for a single resource; prio_wavefront itself only distinguishes the highest
// priority from all others. Unlike with islip, pim, loa and the separable_input_first and
// separable_output_first allocators, no output stays idle because two outputs chose the same input,
// so there are no iterations.
//
// BookSim2 matches all inputs and outputs anew for every flit. Here a packet holds both until its
// tail has crossed, so an input and an output that are both always busy may never be free in the
// same cycle. Therefore ports are held for a request that was passed over.
//
// No request starves:
//
//   - A request that could cross loses its input or its output only to a queue that was served
//     longer ago, and that one is younger from then on: it loses at most once to each queue of its
//     router.
//   - A request that never finds both free sees its output given to others. As the oldest request
//     for that output it is passed over 16 times, then both are held for it.
//
// A round-robin pointer per output, shared by its VCs, does not guarantee this: a grant to one VC
// moves the pointer past requests for another VC that has no room, and of two requests that compete
// for returning room, one may lose every time.
//
// # Guarantees
//
//   - Packets are not lost, and packets with the same route and VC stay in order.
//   - The same Config gives the same results for any Threads and Block, and for runs of any length.
//   - Run does not allocate, except for mail between parts, which grows to its maximum.
//
// # Implementation
//
// All times of a packet's flits follow from the cycle in which its head begins to cross, so a
// router is processed once per packet instead of once per flit. Parts of the topology (a group of a
// Dragonfly) run independently for blocks of cycles, whose length is the minimum latency from
// outside. Traffic that leaves a part is mailed at the end of the block. A router has an agenda, a
// wheel of bit masks by cycle: future events are marked there, and the order of marking does not
// matter.
package packets
