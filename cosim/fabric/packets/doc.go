// Package packets is a network of routers with deep buffers, packet by packet, to the cycle: for networks of thousands
// of nodes, where package fabric, which has the RTL's shallow buffers, would take a hundred times as long.
//
// # The router
//
// A router has a queue per input port and VC, of as many packets as Depth has flits for. Packets cut through, and are not mixed:
//
//   - The packet at the front of a queue is routed in the cycle in which its head arrives, or that in which the tail of the one before
//     has left. It then asks for an output until it gets it, which needs room for all of it behind the output's
//     wire on its VC.
//   - In a cycle every free output takes the next of those that ask it and whose input is free, round-robin. Both
//     are then taken until the packet's tail has crossed: Speedup flits in a cycle, but none before it has arrived.
//   - An output's wire carries packets whole, one flit per cycle, in the order in which they crossed; a head is on the
//     wire RouterCycles after it began to cross at the earliest.
//   - The room that a packet had is given back when its tail has left, and needs as long as a flit on the wire.
//
// A node has one queue's room at its router and one behind its output, which it empties at its own pace ([Config.Slow]).
//
// # What it promises
//
//   - Packets are not lost, and what takes the same way on the same VC stays in order.
//   - The same Config gives the same numbers whatever Threads and Block are, in runs of any length.
//   - Run allocates nothing but what mail between parts needs, which grows to what it needs.
//
// # How
//
// All times of a packet's flits follow from when its head begins to cross, so that a router is touched once a packet and
// not once a flit. Parts of the topology (a group of a Dragonfly) run for blocks of cycles by themselves: as many as
// nothing from outside can have arrived in. What leaves a part waits in the mail until the block's end.
// A router has an agenda, a wheel of bit masks by cycle: whatever will happen is marked there,
// and masks do not know in which order they were marked.
package packets
