// Package load measures networks under synthetic traffic: throughput and latency with confidence,
// saturation, who gets how much, which links carry it.
//
// # What it promises
//
//   - A [Point] is measured from when the network has settled, by [Rule], and says whether it has.
//   - The same configuration, rule and seed give the same point whatever the threads.
//   - Throughput over time belongs to a point: what has settled slowly can be seen.
package load
