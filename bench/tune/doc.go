// Package tune measures the algorithms of host's collectives and generates the table by which host
// chooses among them.
//
// # Guarantees
//
//   - Every algorithm of every collective is measured as in IMB (package imb): a barrier before
//     each repetition, rotating roots, every byte verified. Times are simulated, so the same
//     [Options] give the same [Report].
//   - For each class of ranks and bytes, the table of a report contains the fastest algorithm among
//     those that a rank may choose locally ([host.Collective.Fits]).
//   - [Report.Slower] lists entries of host's table that are slower than the linear algorithm.
//
// # Requirements for the caller
//
//   - Use a device with the RTL's cycles, such as model:. Host work takes time by
//     [host.DefaultCost]; the computation of reductions takes none.
package tune
