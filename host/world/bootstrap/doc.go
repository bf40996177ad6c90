// Package bootstrap brings the programs of a world together: it tells each of them who lives where,
// and has all wait for all.
//
// One program listens ([Listen]), the others [Join]. Each claims its ranks and says where they
// live; when every rank is claimed all have the directory. Nothing else travels here: messages are
// the NICs' business.
//
// # What it promises
//
//   - Addresses are unix:PATH or tcp:HOST:PORT. A socket in the file system is its user's alone: it
//     is made with mode 0600, what is there already is not replaced, and both ends ask the kernel
//     who the other is. Over TCP both must know a token, which is never sent, and nothing but this
//     machine's own loopback is used unless Config.Remote says so.
//   - Every frame carries a code that only who has the token can make, for this connection and this
//     position in it. Nothing is secret.
//   - Who connects and says nothing, or anything else, is dropped after a while and holds nobody
//     up.
//   - A rank has one program: the second one that claims it is refused, and the world begins
//     without it.
//   - When a program dies all others are told, of which ranks, at the next fence or by
//     [Session.Watch]; when one does not come, which are missing. Both are typed errors.
//
// # What the caller must do
//
//   - Give all programs the same Size and World, and Fence as often in each.
//   - Keep the token out of command lines, which other users see. [FromEnvironment] reads what
//     Slurm and PMI say of rank, size and host; it reads no token.
package bootstrap
