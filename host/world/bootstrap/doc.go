// Package bootstrap connects the programs of a world: it exchanges the locations of their ranks and
// provides a barrier of all programs.
//
// One program listens ([Listen]), the others [Join]. Each program claims its ranks and sends their
// locations; once every rank is claimed, all programs receive the directory. Messages between ranks
// do not pass through these connections, they travel over the NICs.
//
// # Guarantees
//
//   - Addresses are unix:PATH or tcp:HOST:PORT. A unix socket is accessible to its user only: it
//     has mode 0600, never replaces an existing file, and both ends check the peer's user with
//     the kernel. Over TCP both ends must know a token, which is never transmitted, and only the
//     loopback interface is used unless Config.Remote is set.
//   - Every frame is authenticated: its code depends on the token, the connection and the frame's
//     sequence number. Nothing is encrypted.
//   - A peer that sends nothing, or something else, is dropped after a timeout and does not delay
//     the others.
//   - A rank belongs to one program. The second program that claims it is refused, and the world
//     starts without it.
//   - When a program dies, all others learn which ranks it had, at the next fence or from
//     [Session.Watch]. When a program does not join, they learn which ranks are missing. Both are
//     typed errors.
//
// # Requirements for the caller
//
//   - All programs use the same Size and World, and call Fence equally often.
//   - Do not pass the token on a command line, which other users can read. [FromEnvironment] reads
//     the rank, size and host that Slurm or PMI set; it does not read a token.
package bootstrap
