// Package paper runs the experiments of the papers that nicloop builds on, and judges the claims of
// the papers. The experiments of each paper are a package below this one; package reproduce lists
// them all.
//
// # Guarantees
//
//   - An [Experiment] measures a [Table] under each of several seeds, if seeds change it, and
//     judges each of its claims from these tables alone: HOLDS, DIFFERS or UNDECIDED (package
//     judge), with the numbers of the paper and ours, the margin, and the 95 % interval. A claim is
//     a shape, a ratio or a break-even point, not an absolute time.
//   - A [Mutation] disables the subject of an experiment; a test requires that the claims about it
//     differ then.
//   - A [Hypothesis] ([Env].Why) repeats an experiment with one thing changed and judges it again:
//     SHOWN if the claim holds with the change, REFUTED if it does not.
//   - A claim that differs is a result. An error is a run that failed.
//   - A [Report] names what it ran on, and whether it was scaled down from the size of the paper.
//     The same [Env] gives the same report and the same files.
//   - Overheads are relative to runs without flow control, whose mailboxes are so large that none
//     was ever full. A run that cannot have such mailboxes is an error.
package paper
