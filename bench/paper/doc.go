// Package paper runs the experiments of the papers that nicloop builds on and
// judges what the papers claim.
//
// # What it promises
//
//   - An [Experiment] measures a [Table] and judges each of its claims from that
//     table alone: HOLDS or DIFFERS, with the paper's numbers beside ours. A claim
//     is a shape, a ratio or a break-even point, not an absolute time.
//   - A reason ([Env].Why) is the same with one thing changed, judged again: SHOWN if what
//     differed holds then, REFUTED if it does not.
//   - A claim that differs is a result. An error is a run that failed.
//   - A [Report] says on what it ran, and whether it was scaled down from the
//     paper's size. The same [Env] gives the same report and the same files.
//   - Runs without flow control, which overheads are relative to, have mailboxes
//     so large that none was ever full; a run that cannot have them is an error.
package paper
