// Package mailbox is the receive ring of a VELO process and the two end-to-end flow controls that
// keep it from overflowing (FC paper, sections 5 and 6).
//
// The hardware has one ring per process and no idea who may fill it: a packet that finds the ring
// full blocks its sender's whole node. [Ring] reads that memory. [Flow] decides who may send and
// who gets credits back: [NewStatic] gives every peer a fixed share of the ring, [NewDynamic]
// moves slots to the peers that use them.
//
// # What a Flow promises
//
// The packets under way to a process, in the network and in its mailbox together, never exceed its
// data region plus CreditSlots credit packets per peer, and no peer waits for ever as long as every
// process keeps retrieving. Package explore proves both on this very code; design.md says why.
//
// A Flow is pure: no goroutine, clock or I/O, and no allocation after its construction. A packet that
// the protocol does not allow (credits that were never granted, a response to no request) changes
// nothing; Retrieve returns an error that names the peer and the field and prints the state of that
// peer. Calls that break the rules below panic.
//
// # What its caller must do
//
//   - Give all processes the same [Config] but for Self: each computes from it what the others hold.
//   - Ask Send before every data packet and send only on OK; carry the granted credits in the packet
//     if Piggyback is set. A refused Send changes nothing: ask again after the next Retrieve.
//   - Report every packet taken off the mailbox with Retrieve, after its slot is free. The hardware may hear of it
//     later, in one write for many, but before a packet leaves that gives credits away, and, when a credit packet was
//     among those taken, before the next data packet: peers take both for a sign that there is room.
//   - After each Send and each Retrieve take control packets with Next until there are none, and
//     inject them in that order. The data packet of a Send comes first.
//   - Keep packets between two processes in order. The network does; so must the injection.
//   - Keep retrieving while waiting for credits.
package mailbox
