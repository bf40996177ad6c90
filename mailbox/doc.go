// Package mailbox implements the receive ring of a VELO process and the two end-to-end flow
// controls that keep it from overflowing (FC paper, sections 5 and 6).
//
// The hardware has one ring per process and does not reserve space for senders: a packet that
// arrives at a full ring blocks the whole node that sent it. [Ring] reads the ring's memory. [Flow]
// decides which process may send and which gets credits back: [NewStatic] gives every peer a fixed
// share of the ring, [NewDynamic] moves slots to the peers that use them.
//
// # Guarantees of a Flow
//
// The packets in flight to a process, in the network and in its mailbox together, never exceed its
// data region plus CreditSlots credit packets per peer. No peer waits indefinitely as long as every
// process keeps retrieving. Package explore checks both by exhaustive exploration of this code;
// design.md has the argument.
//
// A Flow is pure: it has no goroutine, clock or I/O, and does not allocate after construction. A
// packet that violates the protocol (credits that were never granted, a response without a request)
// does not change the state; Retrieve returns an error that names the peer and the field and
// includes the state of that peer. A caller that breaks the rules below causes a panic.
//
// # Obligations of the caller
//
//   - Give all processes the same [Config] except for Self: each process computes from it what the
//     others own.
//   - Call Send before every data packet and send only on OK. If Piggyback is set, append the
//     granted credits to the packet. A refused Send changes nothing; try again after the next
//     Retrieve.
//   - Report every packet taken out of the mailbox with Retrieve, after its slot is free. The read
//     pointer may be written to the hardware later, once for many packets, but before any packet
//     that returns credits, and, if one of the packets was a credit packet, before the next data
//     packet: peers infer free slots from both.
//   - After each Send and each Retrieve, take control packets with Next until there are none, and
//     send them in that order, after the data packet of a Send.
//   - Keep packets between two processes in order. The network does; so must the sending side.
//   - Keep retrieving while waiting for credits.
package mailbox
