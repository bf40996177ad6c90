// Package monitor samples the counters and links of a NIC periodically and reports the differences,
// for a person who watches a device while others use it.
//
// # Guarantees
//
//   - Nothing is written to the device. Registers that it lacks (the links of `ideal:`) are
//     omitted; probing each costs one BAD_ACCESS at [New].
//   - Rates refer to the time between two samples on the caller's clock. A 32-bit counter may wrap
//     around once between two samples. Any other decrease means that the counter was reset, and is
//     reported.
//
// # Obligations of the caller
//
// Respect the other users of the device. A system with a caller-controlled clock must be run
// between samples.
package monitor
