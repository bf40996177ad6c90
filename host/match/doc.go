// Package match pairs messages with receives by MPI's rules, as a pure state
// machine: no time, no I/O, no map.
//
// # What it promises
//
//   - A message matches a receive when communicator, source and tag agree; a
//     receive may leave source or tag open ([Any]), or any bits of a tag of 64 bits ([NewWide]).
//   - Non-overtaking: an arriving message takes the oldest posted receive that it
//     matches; a posted receive takes the oldest unexpected message that it
//     matches, where age is the order of Arrive and Post.
//   - Messages can be taken without a receive (matched probes) or taken back (cancelled sends), and
//     receives taken back, with the order of all others as it was.
//   - A receive that names its source looks only at what concerns that source,
//     however many messages and receives are waiting. Nothing is allocated once
//     the queues have had their largest size.
//
// # What the caller must do
//
//   - Call Arrive in the order in which the messages of a source were sent.
//   - Sources are 0 up to the number given to [New].
package match
