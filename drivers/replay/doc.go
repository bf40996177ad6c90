// Package replay plays back a transaction log in place of the recorded system, for tests without
// hardware and for analysing failures of a board.
//
// # Guarantees
//
//   - Each call returns the recorded result. The device's recorded memory writes appear at the call
//     after which they were observed. Time is the recorded time.
//   - The first call that differs from the log gives a *[DivergenceError] with its number, the
//     expected and the actual call. That call returns it or, if it has no error result, the next
//     one that has. All later calls and Close return it, too.
//   - Close returns an *[UnconsumedError] if calls of the log are left.
//   - A damaged log gives a *translog.FormatError; the part before the damage can be played.
//
// # Obligations of the caller
//
// Make the same calls in the same order. Now, Info and Memory may be called at any time. The log of
// a Timed system opens as a drivers.Timed; the log of a device does not.
//
// # Scheme
//
//	replay:FILE
package replay
