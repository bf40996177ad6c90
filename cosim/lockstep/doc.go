// Package lockstep holds two runs of the same software together, each on a system of its own, and
// tells where the systems first part: the RTL and the model that takes its cycles, or two trees of
// RTL.
//
// # What it promises
//
//   - What both sides show is compared in order of time: flits at every trace point that both have,
//     what stops a run, what registers answer and in which cycle. When the software has come to an
//     end, so are all registers and all memory.
//   - A [Divergence] is the earliest difference: the cycle, both values, the node, and the block of
//     the hardware in which what goes in was still the same (see blame.go). It is the same whenever
//     the same is compared.
//   - When a NIC reads an address that memory has not got, comparing ends there without a
//     difference.
//   - Of what is not opened here it takes no time.
//
// # What a caller must do
//
//   - Run the same software twice, side by side, and have each open its systems with the Open of
//     its [Side], as many and in the same order. The software must depend on nothing but what it is
//     given and what the system shows.
//   - Call [Side.End] when a side's software has ended, whatever it came to. When the sides have
//     parted, calls of their systems fail with [ErrParted] a little later.
package lockstep
