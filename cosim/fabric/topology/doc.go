// Package topology describes the connections of routers and nodes: meshes and tori, Dragonflies and
// fat trees. It contains neither routes nor buffers, and of time only the latency of each wire.
//
// # Guarantees
//
//   - Every wire is the same from both ends, with the same latency.
//   - Every node is connected to exactly one port.
//   - Routers are grouped in parts of neighbours, numbered from 0, such that the wires between
//     parts are as few and as long as possible: simulators run parts in parallel.
package topology
