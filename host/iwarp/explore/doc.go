// Package explore runs two endpoints of the reliable datagram transport through every interleaving
// of a small world. The network between them loses, duplicates and reorders datagrams without
// limit, but holds only a few of them. Timers may expire at any time. It uses modelcheck, the
// explorer of this module.
//
// Properties that are checked in every state:
//
//   - A receiver receives the messages of a sender in order and at most once; without restarts, it
//     receives all of them.
//   - A message completes once, in order, and not before it was delivered.
//   - From every state an end is reachable in which all messages have completed: no deadlock.
//
// With restarts, an endpoint loses its state at any time and begins again with a larger epoch. The
// messages that were not acknowledged may then be delivered to both incarnations of a receiver.
package explore

// Claims is what a proof shows, in one sentence.
const Claims = "messages are delivered once and in order, complete once and only after their delivery, and never deadlock"
