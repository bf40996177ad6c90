// Package load measures networks under synthetic traffic: throughput and latency with confidence
// intervals, saturation, fairness between nodes, and link loads.
//
// # Guarantees
//
//   - A [Point] is measured after the network has reached steady state by a [Rule], and is labelled
//     steady or transient (package steady).
//   - The same configuration, rule and seed give the same point for any number of threads.
//   - A point includes throughput over time, which shows slow convergence.
package load
