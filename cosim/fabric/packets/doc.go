// Package packets is a network of routers with deep buffers, packet by packet, to the cycle: for
// networks of thousands of nodes, where package fabric, which has the RTL's shallow buffers, would
// take a hundred times as long.
//
// # The router
//
// A router has a queue per input port and VC, of as many packets as Depth has flits for. Packets
// cut through, and are not mixed:
//
//   - The packet at the front of a queue is routed in the cycle in which its head arrives, or that
//     in which the tail of the one before has left. It then asks for an output until it gets it,
//     which needs room for all of it behind the output's wire on its VC.
//   - In a cycle the router goes through the fronts whose input and output are free and that have
//     room, the one whose queue was served longest ago first; each takes its output if no one
//     before it took its input or its output. Both are then taken until the packet's tail has
//     crossed: Speedup flits in a cycle, but none before it has arrived.
//   - An output that was given to younger requests 16 times, while an older one with room waited
//     for its input, is held for that one, and so is the input, until both are free.
//   - An output's wire carries packets whole, one flit per cycle, in the order in which they
//     crossed; a head is on the wire RouterCycles after it began to cross at the earliest.
//   - The room that a packet had is given back when its tail has left, and needs as long as a flit
//     on the wire.
//
// A node has one queue's room at its router and one behind its output, which it empties at its own
// pace ([Config.Slow]).
//
// # Allocation, and what corresponds to it in BookSim2
//
// Arbitration is least recently served, per queue, with one order for all outputs. It is a greedy
// maximal matching by priority, as BookSim2's prio_wavefront computes it in one pass of its
// diagonals; the priority is the time since the queue was served, which is what its matrix arbiter
// keeps for a single resource. prio_wavefront itself tells only the highest priority from all
// others. Unlike islip, pim, loa and the separable_input_first and separable_output_first
// allocators, no output is left idle because two outputs chose the same input, so there are no
// iterations.
//
// BookSim2 matches all inputs and outputs anew for every flit. Here a packet holds both until its
// tail has crossed, so an input and an output that are both always busy may never be free in the
// same cycle. That is why ports are held for a request that was passed over.
//
// No request starves:
//
//   - A request that could cross loses its input or its output only to a queue that was served
//     longer ago, and that one is younger from then on: it loses at most once to each queue of its
//     router.
//   - A request that never finds both free sees its output given to others. As the oldest request
//     for that output it is passed over 16 times, then both are held for it.
//
// A round-robin pointer per output, shared by its VCs, does not give this: a grant to one VC moves
// the pointer past requests for another VC that has no room, and of two that share the room as it
// comes back one may lose every time.
//
// # What it promises
//
//   - Packets are not lost, and what takes the same way on the same VC stays in order.
//   - The same Config gives the same numbers whatever Threads and Block are, in runs of any length.
//   - Run allocates nothing but what mail between parts needs, which grows to what it needs.
//
// # How
//
// All times of a packet's flits follow from when its head begins to cross, so that a router is
// touched once a packet and not once a flit. Parts of the topology (a group of a Dragonfly) run for
// blocks of cycles by themselves: as many as nothing from outside can have arrived in. What leaves
// a part waits in the mail until the block's end. A router has an agenda, a wheel of bit masks by
// cycle: whatever will happen is marked there, and masks do not know in which order they were
// marked.
package packets
