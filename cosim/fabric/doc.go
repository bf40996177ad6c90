// Package fabric simulates the network of routers and links, flit by flit and cycle by cycle,
// without payload: the behaviour of rtl/core/router and rtl/core/link.
//
// # Guarantees
//
//   - A flit takes InjectCycles to its first router, RouterCycles per router and LinkCycles per
//     link. A freed entry can be used again after CreditCycles (LocalCreditCycles next to a NIC);
//     one credit returns per VC and cycle.
//   - Each input VC has one queue per output; the queues of a VC share its VCDepth entries. A
//     packet holds its output VC from head to tail, and an arbiter selects the next packet; in each
//     cycle another arbiter selects among the VCs that can send. Both are round-robin, starting
//     behind the last one served.
//   - Nothing is lost, and traffic with the same source, destination and VC stays in order. A
//     packet without a legal route is discarded and counted, and does not block others.
//   - The same calls give the same flits in the same cycles, in runs or one by one, in one part or
//     in several. Calls after New and Expose do not allocate, except for lists between parts and
//     lists of links in error, which grow to their maximum.
//   - Only outputs that can make progress cost time: an output that waits for a flit or a credit is
//     examined only when that arrives.
//
// # Requirements for the caller
//
// In each cycle, in any order: receive Ejected and Dropped, Inject at most one flit per node where
// CanInject allows it, Release the entries whose flits the NIC takes. Then call Step. While nothing
// can move, SkipTo(NextEvent()) is equivalent to that many Steps. The flits of a packet are
// injected in order, head first and tail last, and not interleaved with others on the same VC.
//
// # Parts
//
// Time advances in the parts of a Fabric (Config.Parts, usually one), each of which may be
// simulated by a goroutine of its own. They call Exchange in the same cycles. Before a part
// simulates cycle t it must have received everything that other parts sent in cycles up to t -
// Lookahead. Parts therefore exchange every Lookahead cycles, each when all have arrived there; or
// every half of that, each when all have arrived at the previous exchange.
//
// # Worked example: runs
//
// A packet of 8 flits travels from node 0 to node 1 of a mesh of two nodes, with buffers of 4
// entries, runs of up to 8 flits (Config.Run), and a NIC that takes every flit immediately. These
// are all decisions:
//
//	cycle  0  NIC 0 to router 0:    flits 0 to 3, there in cycles 2 to 5
//	cycle  2  router 0 to router 1: flits 0 to 3, there in cycles 7 to 10
//	cycle  4  NIC 0 to router 0:    flits 4 to 7, there in cycles 6 to 9
//	cycle  7  router 1 to NIC 1:    flits 0 to 3, there in cycles 8 to 11
//	cycle 14  router 0 to router 1: flits 4 to 7, there in cycles 19 to 22
//	cycle 19  router 1 to NIC 1:    flits 4 to 7, there in cycles 20 to 23
//
// In cycle 2 router 0 has seen one flit. It sends four at once, because the others are known to
// arrive in cycles 3 to 5 and four entries are free; router 1 learns of all four immediately. Their
// entries in router 0 are free from cycle 4 on, one per cycle, so the NIC continues in cycle 4.
// Flit 4 must wait: router 1 sends flit 0 in cycle 7, and the credit takes 7 cycles to router 0,
// where it can be used in cycle 14. The credits of flits 1 to 3 follow one per cycle, which is as
// fast as flits leave, so the second half is again a single run. Flit by flit, the packet takes 24
// decisions and the same cycles.
//
// # Links in error
//
// A link is a plain delay until Expose turns it into a link with numbered words on wires that
// corrupt and lose words, or have no carrier: the behaviour of rtl/core/link and
// rtl/sim/wire_faults, cycle by cycle (link.go and wire.go, which are independent of the other
// files). Without faults both are equivalent. While links are exposed, NextEvent may be Now
// although Ejected shows nothing: LinkFailures and Ended must be called after each Step, SkipTo and
// Exchange. Every flit arrives once and in order, except for packets that a link gives up: the
// delivered part is terminated by an additional tail, and the rest is discarded. A link that drains
// discards its packets at the router's output. A link of which an end was reset starts a new
// session (link_session.go, gate.go); flits that had not arrived by then are lost and counted. The
// fate of each tail is reported (Ended).
//
// # Larger networks
//
// A Topology has routers of up to 255 ports with any number of nodes; [Routed] creates Dragonflies
// and fat trees with minimal routes. Adaptive routing in a Dragonfly uses a Chooser: it is called
// once per packet and router, can read the occupancy of the outputs (Backlog), and may store
// information for later routers in the flit (Flit.Note).
package fabric
