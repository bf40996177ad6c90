// Package coverage adds up what tests have seen of the RTL: lines and toggles that Verilator
// counts, and functional points that follow from the description of packets, seen in the trace.
//
// # What it promises
//
//   - Points are those of one kind of node, whatever node, mesh, test or seed has seen them: the
//     same lines of the same file.
//   - What a test adds is judged in order of the list, not of time; the same regression gives the
//     same report.
//
// # What a caller must do
//
//   - Give every test a folder of its own for counts ("rtl:?coverage=DIR") and add it when the test
//     has ended.
//   - Open systems with the Open of a test's [Functional] if functional points are wanted.
package coverage
