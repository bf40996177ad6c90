// Package regress runs named tests on a device and reports how they ended. It knows no test: lists
// of tests are packages of their own, such as bench/suite, or are added with [Add].
//
// # Guarantees
//
//   - A test depends only on its name, its seed and the device, not on which other tests run or how
//     many run concurrently.
//   - Outcomes have the order of the list. Each test has a folder of its own with its log; no test
//     writes into the folder of another.
//   - The end of a failing test is repeated from a checkpoint, with waveforms of the cycles before
//     the failure. On devices without checkpoints the whole test is repeated. The report has the
//     command that reproduces the failure.
//   - A failing test is also run beside a reference that is exact to the cycle (for rtl: the
//     model). The report names the first difference, with waves around it (package lockstep).
//     Failures with one signature form a group; for the first of each, the smallest workload with
//     the same failure is searched.
//   - The machines that tests open are built before the first test, in the order in which they are
//     needed. A machine that cannot be built ends the regression, and so does a log that cannot be
//     written.
//   - Interrupting a regression makes no test fail: running tests are reported as Stopped.
//   - Failures and hangs are distinguished: a hang is a failure with a [bench.Verdict].
//
// # Duties of a test
//
//   - Draw all random numbers from [T.Rand], and open devices only with [T.Open], [T.Run] and
//     [T.Launch], so that repeating a test gives the same run.
//   - Return an error with the expected and the found value.
package regress
