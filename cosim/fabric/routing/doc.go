// Package routing computes the routes of packets: dimension order on meshes and tori; minimal,
// Valiant, UGAL-L and progressive adaptive (PAR) routing on Dragonflies; up and down on fat trees;
// shortest paths from a table on any topology. It also selects virtual channels such that there is
// no cyclic dependency between packets.
//
// # Guarantees
//
//   - A packet that is routed until Route returns its node's port arrives there in a bounded number
//     of hops.
//   - The dependency graph of channels (wires with their VCs) has no cycles: the tests build it for
//     all choices.
//   - Route depends only on its arguments, and writes only into the Header.
//
// # Requirements for the caller
//
// Call Route once per packet and router, when the packet is at the front of its input VC, and keep
// the result.
package routing
