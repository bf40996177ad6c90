// Package imb is the MPI-1 part of the Intel MPI Benchmarks, written anew over
// package host, with the originals' parameters and output columns: who reads
// IMB output can read this.
//
// # What it promises
//
//   - [Run] runs each benchmark on growing numbers of processes while the others
//     wait in a barrier, and gives one [Table] for each. Every byte received is
//     verified.
//   - Times and rates are defined as in IMB 2018 and later: a rank's time is its
//     mean over the repetitions, t_min, t_max and t_avg are over the ranks,
//     Mbytes/sec counts 10^6 bytes and divides by t_max. A table's PingPong time
//     is half of a round trip.
//   - The root of rooted collectives is the iteration modulo the processes;
//     [Config.RootShift] lets it stay for longer.
//   - Times are simulated; the same Config gives the same Report.
//
// # What differs from the original
//
//   - Reductions add 64-bit integers, so their sizes are multiples of 8.
//   - Repetitions are few and fixed: simulated time has no noise to average out.
//   - Every table has a world of its own: flow control starts anew.
package imb
