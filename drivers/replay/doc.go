// Package replay plays a transaction log back as if it were the recorded system:
// tests without hardware, and failures of a board looked at again.
//
// # What it promises
//
//   - Each call gets the recorded answer, and the device's recorded memory writes
//     appear at the call after which they were seen. Time is the recorded time.
//   - The first call that is not the recorded one is a *[DivergenceError] with its
//     number, what was expected and what was found. It comes from that call or, if
//     that returns no error, from the next that does; it comes from every call
//     after it, and from Close.
//   - Close fails with an *[UnconsumedError] when software stopped early.
//   - A damaged log is a *translog.FormatError; what lies before the damage plays.
//
// [Onto] goes the other way: it repeats a log's calls on a live system and reports
// the first answer that differs.
//
// # What the caller must do
//
// The same calls in the same order. Now, Info and Memory are free. The log of a
// Timed system opens as drivers.Timed, that of a device does not.
//
// # Scheme
//
//	replay:FILE
package replay
