// Package lockstep runs the same software twice in lockstep, each on a system of its own, and
// reports the first difference between the systems: the RTL and the model with its cycles, or two
// versions of RTL.
//
// # Guarantees
//
//   - Observations of both sides are compared in order of time: flits at every trace point that
//     both have, events that stop a run, and register values with their cycles. At the end of the
//     software all registers and all memory are compared, too.
//   - A [Divergence] is the earliest difference: cycle, both values, node, and the hardware block
//     whose inputs were still the same (see blame.go). The result is reproducible.
//   - When a NIC reads an address outside memory, the comparison ends there without a difference.
//   - Systems that are not opened here are not slowed down.
//
// # Requirements for the caller
//
//   - Run the same software twice, concurrently. Both instances open the same number of systems in
//     the same order, with the Open of their [Side]. The software must depend only on its inputs
//     and on the system.
//   - Call [Side.End] when a side's software has ended, for any reason. After a divergence, calls
//     of the systems soon fail with [ErrParted].
package lockstep
