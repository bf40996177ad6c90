// Package libfabric runs programs that use libfabric, such as unmodified MPI programs, as ranks of
// a simulated world.
//
// # What it promises
//
//   - [Build] compiles the provider, a thin library in C, from the sources that nicloop contains.
//     The provider hands every operation to this process through memory that both share; matching,
//     paths, flow control and time are those of package host.
//   - A program is a rank. While it computes between two calls, its rank does not move in virtual
//     time, and no other rank does: the kernel of the world waits for its next call. So a run
//     depends on nothing but the programs, and repeats to the picosecond.
//   - A rank whose program waits outside of libfabric (for another program, by a socket) would stop
//     the world. After Config.Stall the others continue without it, and [Report].Detached says that
//     this run may differ from the next.
//   - One-sided operations of libfabric are puts and gets of the NIC; atomics are messages.
//   - Programs that all wait for messages that nobody sends end with a [*HangError].
//
// # What the caller must do
//
//   - Start the programs with the environment of [Server.Environment].
//   - Run [Server.Serve] as the function of every rank, one at a time (as cosim/vtime does).
package libfabric
