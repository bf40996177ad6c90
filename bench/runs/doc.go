// Package runs stores the history of regressions in one file: every run, and each of its tests with
// seed, device, hardware, verdict, simulated cycles and time.
//
// # Guarantees
//
//   - When [Store.Add] returns, its records are on the disk. A crash of the process or the machine
//     does not corrupt the file.
//   - Several processes may use one file, also during a run: it is locked only for each call.
//   - Simulated time is exact, so a test that takes one cycle more than when it last passed, with
//     the same seed on the same device, is reported ([Slower]).
//
// # Requirements for the caller
//
//   - Call [Store.Begin], then Add as tests end, then [Store.End].
//
// Decision 0008 explains the choice of bbolt.
package runs
