// Package fabric is the network of routers and links in Go, flit by flit and
// cycle by cycle: what rtl/core/router and rtl/core/link do, without payload.
//
// # What it promises
//
//   - A flit needs InjectCycles to its first router, RouterCycles per router and LinkCycles per
//     link; an entry that became free can be used again CreditCycles later (LocalCreditCycles at
//     a NIC); per VC one credit per cycle comes back.
//   - Per input and VC there is one queue per output; the queues of a VC share
//     its VCDepth entries. Per output and VC a packet keeps the output from head to
//     tail, and an arbiter chooses the next; per cycle another chooses among the VCs that can
//     move. Both are round-robin: the first behind the one served last.
//   - Nothing is lost, and what has one source, destination and VC stays in order.
//     A packet without a legal route is discarded, counted, and hinders nobody.
//   - The same calls give the same flits in the same cycles, in runs or one by one, in one part or
//     in several. No call after New and Expose allocates, but for the lists between parts and those
//     of links in error, which grow to what they need.
//   - Only what can move costs time: an output that waits for a flit or a credit
//     is not looked at until it comes.
//
// # What the caller must do
//
// In each cycle, in any order: take Ejected and Dropped, Inject at most one flit
// per node where CanInject allows it, Release the entries that the NIC takes flits
// out of. Then Step. While nothing can move, SkipTo(NextEvent()) does the same as
// that many Steps. A packet's flits are injected in order, head first and tail
// last, and not mixed with others on the same VC.
//
// # Parts
//
// Time passes in the parts of a Fabric (Config.Parts, usually one), each of which may be worked by
// a goroutine of its own. They call Exchange in the same cycles. Before a part steps a cycle t it
// must have taken what the others sent in cycles up to t - Lookahead: so they exchange every
// Lookahead cycles, each when all have come there; or every half of that, each when all have come
// to the exchange before.
//
// # Worked example: runs
//
// A packet of 8 flits from node 0 to node 1 of a mesh of two, with buffers of 4 entries and runs of
// up to 8 flits (Config.Run), and a NIC that takes every flit as it comes. These are all decisions
// that are made:
//
//	cycle  0  NIC 0 to router 0:    flits 0 to 3, there in cycles 2 to 5
//	cycle  2  router 0 to router 1: flits 0 to 3, there in cycles 7 to 10
//	cycle  4  NIC 0 to router 0:    flits 4 to 7, there in cycles 6 to 9
//	cycle  7  router 1 to NIC 1:    flits 0 to 3, there in cycles 8 to 11
//	cycle 14  router 0 to router 1: flits 4 to 7, there in cycles 19 to 22
//	cycle 19  router 1 to NIC 1:    flits 4 to 7, there in cycles 20 to 23
//
// In cycle 2 router 0 has seen one flit. It sends four at once, since the others are known to come
// in cycles 3 to 5 and four entries are free; router 1 learns of all four now. Their entries in
// router 0 are free from cycle 4 on, one per cycle, so the NIC goes on in cycle 4. Flit 4 must
// wait: router 1 sends flit 0 in cycle 7, and the credit takes 7 cycles to router 0, where it can
// be used in cycle 14. Those of flits 1 to 3 follow one per cycle, which is as fast as flits leave,
// so the second half is one run again. Flit by flit the packet takes 24 decisions, and the same
// cycles.
//
// # Links in error
//
// A link is a delay until Expose makes it one of numbered words on wires that corrupt and lose
// them, or carry none: what rtl/core/link and rtl/sim/wire_faults do, cycle by cycle (link.go,
// wire.go, which know nothing of the rest). Without faults both are the same. While links are
// exposed NextEvent may be Now; then Step does something that no Ejected shows: LinkFailures and
// Ended are to be asked after each Step, SkipTo and Exchange. Every flit arrives once and in order,
// but packets that a link gives up: their part ends with a tail of its own, and the rest is
// discarded. A link that drains discards what is for it at its router's output, and one of which an
// end was reset starts anew (link_session.go, gate.go): what had not come by then is lost and
// counted. What becomes of each tail of a packet is told (Ended).
//
// # Larger networks
//
// A Topology has routers of up to 255 ports and any number of nodes at each, of which [Routed]
// makes Dragonflies and fat trees with minimal routes. A Dragonfly's adaptive routing is a Chooser:
// it is asked once per packet and router, sees how full the outputs are (Backlog), and may write
// into the flit what later routers must know (Flit.Note).
package fabric
