// Package topology says how routers and nodes are joined: meshes and tori,
// Dragonflies and fat trees. It knows nothing of routes, buffers or time but the
// latency of each wire.
//
// # What it promises
//
//   - Every wire is seen alike from both ends, with the same latency.
//   - Every node stands at exactly one port.
//   - Routers are in parts of neighbours, numbered from 0, such that as few and as long wires as
//     can be lead from one part to another: simulators work parts side by side.
package topology
