// Package monitor reads the counters and links of a NIC again and again, and says what has come since: what a person watches while others use
// the device.
//
// # What it promises
//
//   - Nothing is written. Registers that a device has not got (links of `ideal:`) are left out, and cost one BAD_ACCESS each at [New].
//   - Rates are of the time between two samples, on the clock of the samples. Counters of 32 bits may wrap between two samples once; one that goes
//     backwards otherwise began anew, which is told.
//
// # What the caller must do
//
// Use the device as its other users allow. A system whose time its caller owns has to be run between samples.
package monitor
