// Package rdrp implements the receiver-driven rendezvous protocol (RDRP) of section 3 of the paper
// of that name on Portals 4: MPI point-to-point messages whose data the receiver fetches in chunks,
// at most c at a time, so that a receiver with slow memory never fills the network. Like package
// portals it is a pure state machine: no I/O, no goroutine, no clock.
//
// # Messages
//
// The first chunk (k bytes) travels with the header. If the message is longer, the sender has
// appended a list entry for the rest before, and the receiver gets it:
//
//	sender                                    receiver
//	append the entry for gets (counter)
//	put: match bits, size, first chunk  --->  matches a posted receive (PUT), or an overflow
//	                                          buffer and later a receive (PUT_OVERFLOW)
//	                                          post m triggered gets, once, in [Endpoint.Progress]
//	entry: counts the get               <---  gets 1 to c start at once
//	                                    --->  reply: counts at the descriptor of the buffer,
//	entry: counts the get               <---  which starts get c+1, and so on, without software
//	counter = m: done                         counter = m: done
//
// Match bits are communicator (16), nonce (16) and tag (32); a receive ignores the nonce, and with
// [AnyTag] the tag. The size is the header data of the put, whose length is that of the first
// chunk.
//
// # Nonces
//
// A nonce makes the match bits of pending sends different, so that their chunks can be fetched at
// the same time. It is free again when all gets of its message have been counted: no late get can
// then reach the entry of the next message with this nonce.
//
// If all nonces are in use, a send takes nonce 0. Messages with equal bits are fetched one after
// the other, in the order in which they matched. Each of their chunks has an entry for one use, in
// the order of the gets. Portals keeps the order of requests of a pair, so get i takes entry i.
// One entry that manages its offset and unlinks itself behind its last byte would need fewer
// entries, but a get of length 0 does not advance it (see the mistake ManageLocal).
//
// # Short receive buffers
//
// The sender counts gets and does not know the receive buffer. Chunks beyond the buffer are
// therefore fetched with length 0, and the receive ends as truncated.
//
// # Exhausted resources
//
//   - Send and Receive return portals.NoSpace and change nothing; call them again after Progress.
//   - A matched receive without a counter, a descriptor or a triggered operation waits, and the
//     rest of its gets are posted by later calls of Progress. It is then not fully offloaded.
//   - Without a free overflow buffer the receiver refuses the message. It is lost, and Progress of
//     the sender returns an error; or with a layer of package rportals (Config.Layer) it is
//     repeated, in order, when there is a buffer. The gets need no recovery: their entries exist.
//
// # Choices
//
//   - k is also the limit of eager messages. A limit above k would lose data, one below needs
//     entries that no get uses.
//   - c limits the gets of one message, as in the paper, not those of a process.
//   - The paper puts the whole length and lets the receiver truncate; it relies on interfaces that
//     do not transmit the excess. Here the put has the length of the first chunk.
//   - Nonces are shared by all pending sends of a process, which needs no table of destinations.
//
// Package explore runs every interleaving of small worlds: nicloop check rdrp.
package rdrp
