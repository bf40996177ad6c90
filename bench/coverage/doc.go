// Package coverage merges the RTL coverage of tests: lines and toggles counted by Verilator, and
// functional points, which are derived from the description of packets and detected in the trace.
//
// # Guarantees
//
//   - Points are those of one node type, merged over nodes, meshes, tests and seeds: the same lines
//     of the same file.
//   - The contribution of a test is determined in list order, not by time; the same regression
//     yields the same report.
//
// # Requirements for the caller
//
//   - Give every test a directory of its own for counts ("rtl:?coverage=DIR"), and call Add after
//     the test has ended.
//   - For functional points, open systems with the Open of a test's [FunctionalSink].
package coverage
