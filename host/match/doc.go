// Package match implements MPI's matching of messages and receives as a pure state machine, without
// clock, I/O or maps.
//
// # Guarantees
//
//   - A message matches a receive if communicator, source and tag agree. A receive may use a
//     wildcard ([Any]) for source or tag, or mask bits of a 64-bit tag ([NewWide]).
//   - Non-overtaking: an arriving message takes the oldest matching posted receive; a posted
//     receive takes the oldest matching unexpected message. Age is the order of Arrive and Post.
//   - Messages can be removed without a receive (matched probes) or withdrawn (cancelled sends),
//     and receives cancelled, without changing the order of the others.
//   - A receive with a named source searches only the messages of that source, regardless of how
//     many others are queued. The queues do not allocate after they have reached their maximum
//     size.
//
// # Requirements for the caller
//
//   - Call Arrive in the order in which the messages of a source were sent.
//   - Sources are 0 up to the number given to [New], exclusive.
package match
