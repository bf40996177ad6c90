// Package offload examines by search whether a rendezvous protocol for MPI can be offloaded in full
// to Portals 4: the claim of section 3.1 of the paper on receiver-driven rendezvous (RDRP) that it
// cannot.
//
// # Theorem 1
//
// If the match bits of the get come from the ready-to-send message, then the get must be posted
// after that message has arrived, yet before the receive call returns, which may be earlier.
// [Cycle] finds this cycle in the graph of [Events], and none if the bits are chosen without the
// message.
//
// # Theorem 2
//
// The claim is that bits chosen from local information cannot follow the matching rules of MPI. A
// send appends a list entry with match and ignore bits for the get of its data; a receive chooses
// the bits of its get. The paper searches 36 unknown bits: two sends with tags t1 and t2, and 9-bit
// codes of a receive (see [Receive.Code]). [Search] repeats the search exhaustively. Only the set
// of codes that an entry accepts matters, and few sets are possible, so it visits all pairs of
// sets.
//
//	table      entries                 gets           solutions
//	printed    any                     any            0: its last row pairs recv(t2) with send(t1)
//	corrected  only one may fit        any            0
//	corrected  the first one is taken  any order      2
//	corrected  first one, use-once     receive order  8
//
// A Portals list is searched in order, so the claim does not hold for the corrected table. [Scheme]
// extends the codes to all receives so far; [Scheme.Check] finds no error for four sends and four
// receives. Such codes need a bit per history: 39 for three receives, 120 for four, more than the
// 64 that Portals has.
//
// [World] executes a solution on real Portals 4 interfaces, for [Explore] to try all interleavings.
package offload
