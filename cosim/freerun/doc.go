// Package freerun runs a simulated machine with a free-running clock, like that of hardware. It
// makes no promise about speed, and no two runs are alike.
//
// # Guarantees
//
//   - A goroutine advances the simulation as fast as it can while there is something to do, and
//     sleeps while nothing moves: an idle machine uses no CPU.
//   - Devices may be used from many goroutines at once. WritePIO waits for a free entry
//     ([drivers.Pacer]); no other call waits for anything but the simulation.
//   - If the memory of the machine can be lent, the System is a [drivers.Lender].
//
// # Obligations of the caller
//
// Do not use the underlying machine after New. Close closes both.
package freerun
