// Package velo is the user-level library of the VELO engine: small packets between processes, with
// end-to-end flow control that its callers do not see (FC paper, section 2).
//
// # Guarantees
//
//   - [Endpoint.Send] hands a packet of at most 56 bytes to the NIC with one store. It returns
//     [ErrTryAgain] when the flow control has no credit or the NIC has no free entry; it reads the
//     register with the number of free entries at most once per 15 packets (drivers.Window).
//     Packets from one process to another are delivered once and in order; packets that the NIC
//     refused are retransmitted.
//   - [Endpoint.Poll] takes the next data packet out of the mailbox. Control packets are consumed
//     and produced inside Poll and Send; callers never receive one.
//   - Neither allocates memory.
//   - With [Static] or [Dynamic] flow control no mailbox overflows, so a mailbox never stalls the
//     network. With [None] a full mailbox stalls the sending node, as the hardware does.
//
// # Obligations of the caller
//
//   - Poll even if it only sends: credits arrive as packets.
//   - Copy a payload that Poll returned before the next call of Poll, which overwrites it.
//   - Let the hardware catch up (host.Proc.Sync) before concluding from an empty mailbox that
//     nothing has arrived.
//   - Use an endpoint from one goroutine.
package velo
