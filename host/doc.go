// Package host is message passing over VELO and RMA: ranks, tag matching, eager
// and long messages, collectives.
//
// # What it promises
//
//   - A message of up to [EagerMax] bytes is cut into VELO packets behind a
//     16-byte header (FC paper, sections 3 and 5.3: 37 packets for 2 KB) and
//     reassembled at the receiver. A longer one travels by a [Rendezvous] over
//     RMA, without a copy if its buffers lie in DMA memory ([Rank.Alloc]).
//   - Messages of one sender match receives in the order in which they were sent,
//     whatever way they travel; a receive may name any source and any tag
//     (package match). A message longer than its receive's buffer is an error.
//   - A rank that has to wait makes progress: it keeps taking packets out of its
//     mailbox and returning credits.
//   - What a rank waits for can be asked at any moment ([Rank.Waiting]): hang
//     verdicts are made of it.
//
// # What the caller must do
//
//   - Give every rank a [Proc], which is all that a rank knows of its machine:
//     simulated time (package vtime) or the wall clock on a board.
//   - Use a Rank from its own function only.
//
// Host work takes time by the model in cost.go, the one place with its numbers.
package host
