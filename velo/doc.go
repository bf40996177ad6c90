// Package velo is the user-level library of the VELO engine: small packets
// between processes, with end-to-end flow control inside and invisible above
// (FC paper, section 2).
//
// # What it promises
//
//   - [Endpoint.Send] hands a packet of at most 56 bytes to the NIC with one
//     store, or says [ErrTryAgain] when the flow control has no credit or the NIC no
//     free entry for it, which it asks a register for once per 15 packets at most (drivers.Window). Packets
//     from one process to another arrive once, in order: what the NIC refused is sent again.
//   - [Endpoint.Poll] takes the next data packet out of the mailbox. Control
//     packets never show: they are consumed and produced inside Poll and Send.
//   - Neither allocates.
//   - With [Static] or [Dynamic] flow control no mailbox ever overflows, so the
//     network never stalls for one. With [None] a full mailbox stalls the whole
//     sending node, as the hardware does.
//
// # What the caller must do
//
//   - Poll even when it only sends: credits arrive as packets.
//   - Treat a payload returned by Poll as gone at the next call of Poll.
//   - Before concluding from an empty mailbox that nothing arrived, let the
//     hardware catch up (host.Proc.Sync).
//   - Use an endpoint from one goroutine.
package velo
