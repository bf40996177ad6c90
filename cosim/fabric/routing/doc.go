// Package routing says which way packets go: dimension order on meshes and tori, minimal, Valiant,
// UGAL-L and progressive adaptive (PAR) on Dragonflies, up and down on fat trees, by a table of
// shortest ways on anything; and on which virtual channel, such that no packets wait for each other
// in a circle.
//
// # What it promises
//
//   - A packet that is routed until Route names its node's port gets there, in a bounded number of
//     hops.
//   - The channels (wires with their VCs) that any packet may ask for while it holds another
//     form a graph without cycles: the tests build it, choice by choice.
//   - Route depends on its arguments alone, and writes only into the Header.
//
// # What the caller must do
//
// Ask once per packet and router, when the packet is at the front of its input VC, and keep the
// answer.
package routing
