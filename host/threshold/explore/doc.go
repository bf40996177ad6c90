// Package explore runs the real core of thresholds through every interleaving of small worlds:
// sends, changes that either side begins, messages, bytes that land, receives, buffers that were
// idle for long, and memory that is short.
//
// # What is proved
//
// In every state that can be reached:
//
//   - bytes land only in a buffer that their receiver has for their sender, long enough and with no
//     other message in it, and stay until they are read;
//   - messages of a pair come once and in order, whatever they travel by;
//   - the full in-band handshake never stops a channel;
//   - buffers do not overlap, and no rank has more bytes or more lengths of them than its bounds.
//
// And where nothing can happen any more: every message was read, every change is over, both sides
// of a channel have the same threshold, and every buffer is known to be empty by the one who may
// use it.
//
// Under the handshake for receivers that are not ready:
//
//   - a fragment lands only in the buffer of a receive that is posted and not over, that has room
//     for it, and that has no other message or will have this one;
//   - a receive that ends has all fragments of its message; messages are matched by MPI's rules,
//     and numbered alike at both ends;
//   - a gate is never opened that is open, or that the hardware may still know.
//
// And of both: from every state an end can be reached, so nothing is asked again for ever. An end
// is where nothing can happen any more: every message was received, what was cancelled is over, and
// no stream waits for anything.
//
// # The world
//
// A [World] has the core as it is. Around it a network keeps the order of a pair, but for messages
// that need not keep it and may pass those that do; bytes land in the order of their pair, at any
// time after they were sent. Messages without a buffer stand for a rendezvous. Deliberate mistakes
// are planted around the core ([Plants]): in what it says and hears, and in what its caller does.
package explore
