// Package runs is the memory of regressions: every run, and every test of it with its seed, device,
// hardware, verdict, simulated cycles and time, in one file.
//
// # What it promises
//
//   - What was added is on the disk when [Store.Add] comes back; a process that is killed, or a
//     machine that is, leaves the file whole.
//   - Several processes may use one file, also while a run goes on: it is locked for the moment of
//     each call.
//   - Simulated time is exact, so a test that takes one cycle more than in the last run in which it
//     passed, with the same seed on the same device, is told ([Slower]).
//
// # What the caller must do
//
//   - Call [Store.Begin], then Add as tests end, then [Store.End].
//
// Decision 0008 says why it is bbolt.
package runs
