// Package alone drives a simulated machine so that its time passes by itself, as hardware's does: a
// body for what runs on the wall clock. It says nothing about speed, and nothing about it repeats.
//
// # What it promises
//
//   - A goroutine lets time pass, as fast as it can, whenever there is something to do, and sleeps
//     while nothing moves: an idle machine costs no processor.
//   - Its devices may be used from many goroutines at once. WritePIO waits for an entry
//     ([drivers.Pacer]); nothing else waits for anything but the simulation.
//   - Of a machine whose memory can be lent it is a [drivers.Lender].
//
// # What the caller must do
//
// Leave the machine below to it from New on; Close closes both.
package alone
