// Package modelcheck explores every state that a small world of protocol code can reach, breadth
// first, and reports a shortest path to a violation. Protocols supply an adapter; this package has
// the state store, parallel levels, liveness checks, symmetry, partial-order reduction and the
// format of counterexamples.
//
// It lies below mailbox because that is the lowest of the folders that use it.
//
// # Two kinds of adapters
//
// A [World] is a value that can be cloned: it lists the events that are enabled, applies one, and
// appends its state to a buffer. [RunWorld] does the rest. States are compared by half of a
// SHA-256, and the worlds of the current level are in memory.
//
// An [Expander] restores a state from its encoding into one world of its own, so nothing is
// allocated per state but the encoding itself. [Run] compares whole encodings. This is for worlds
// with millions of states whose protocol can be restored. Symmetry and reduction belong to the
// adapter: it passes on the smallest renaming of a state ([Permutations]) and omits events that
// [Fewest] finds redundant.
//
// # Guarantees
//
//   - Every state is expanded once, in the order in which it was found. The result depends neither
//     on the number of workers nor on their speed.
//   - The path of a violation is a shortest one.
//   - With [EndReachable], a state from which no end can be reached is a violation; with
//     [NoCycles], a cycle of the transitions that the adapter marked.
//
// # Obligations of the adapter
//
//   - Two states with the same encoding behave alike from then on.
//   - A world changes only in Apply. A clone shares nothing that Apply of its event changes.
//
// Example: a counter from 0 to 3 where 2 is wrong gives
//
//	0 -inc-> 1 -inc-> 2: violation, path inc, inc
//
// # Counterexamples
//
// [Transcript] writes a path as a script in the format of github.com/cockroachdb/datadriven: a
// command, a line with ----, the output, an empty line. The tests of a protocol replay such
// scripts from testdata.
//
// The package imports nothing of this module and has a top-level folder, because the protocols it
// serves are on different floors: mailbox, which may not import drivers, and host.
package modelcheck
