// Package regress runs the regression list: named tests of the whole stack on a
// real device.
//
// # What it promises
//
//   - A test depends on its name, its seed and the device alone, never on which
//     others run or how many at a time.
//   - Results come in the order of the list. Each test has a folder of its own
//     with its log; a run never writes into another run's folder.
//   - The end of a failing test is repeated from a checkpoint with waveforms of the cycles before
//     the failure (where there are none, all of it), and its report names the line that reproduces
//     it.
//   - A failing test is also run beside a reference that takes the device's cycles (the model of
//     rtl:), and its report names where the two part first, with waves around it (package
//     lockstep). Failures of one signature are a group; of the first of each the smallest workload
//     is looked for that fails alike.
//   - What tests open is built before they begin, in the order in which it is needed: a step with a
//     time of its own. What cannot be built ends the regression, and so does a log that cannot be
//     written.
//   - Who interrupts a regression makes no test fail: those under way are Stopped.
//   - Failures and hangs are told apart: a hang is a failure with a
//     [bench.Verdict].
//
// # What a test must do
//
//   - Draw every random number from [T.Rand] and open devices with [T.Open] or
//     [T.Run] only, so that repeating it means the same run.
//   - Return an error that says what was expected and what was found.
package regress
