// Package imb implements the MPI-1 part of the Intel MPI Benchmarks on package host, with the
// original's parameters and output columns. It shares no code with the original.
//
// # Guarantees
//
//   - [Run] runs each benchmark on increasing numbers of processes while the others wait in a
//     barrier, and returns one [Table] for each. Every received byte is verified.
//   - Times and rates are defined as in IMB 2018 and later: a rank's time is its mean over the
//     repetitions; t_min, t_max and t_avg are over the ranks; Mbytes/sec counts 10^6 bytes and
//     divides by t_max. The time of PingPong is half of a round trip.
//   - The root of rooted collectives is the iteration modulo the number of processes;
//     [Config.RootShift] changes it less often.
//   - Times are simulated; equal Configs give equal Reports.
//
// # Differences from the original
//
//   - Reductions add 64-bit integers, so their sizes are multiples of 8.
//   - Repetitions are few and fixed, because simulated time has no noise.
//   - Every table has a world of its own, so flow control starts from its initial state.
package imb
