// Package bench joins host software with a device and measures it: workloads,
// their results, hang verdicts.
//
// # Guarantees
//
//   - [Run] opens the device, builds the world, runs a workload on every rank,
//     verifies every byte received, checks that no credit was lost, and returns a
//     [Result] that depends on its [Spec] alone: same spec, same JSON.
//   - [MeasureBudget] follows one packet on an idle network; its stages add up to
//     the time between the sender's call and the receipt.
//   - A run without progress ends with a [*Verdict], not with a time-out.
//
// # Duties of the caller
//
//   - Import the backends that URIs may name.
//   - Cancel the context to stop a run; it ends with the context's error.
package bench
