// Package portals implements the semantics of the Portals 4 network programming interface as a pure
// state machine: no I/O, no goroutine, no clock, and no allocation per message once the queues have
// had their largest size. An [NI] is one network interface of one process. Operations and packets
// go in; packets ([NI.Next]) and events ([NI.EQGet], [NI.CTGet]) come out.
//
// # Names
//
// Functions have the names of the specification without Ptl: PtlMEAppend is [NI.MEAppend].
// Constants have them in Go spelling: PTL_ME_USE_ONCE is [MEUseOnce], PTL_NI_PT_DISABLED is
// [FailPTDisabled]. An LE is an ME on a non-matching interface, so PtlLEAppend is MEAppend. Return
// codes are errors of type [Code]. Addresses are numbers that a [Memory] resolves.
//
// Numbers in parentheses, as in (3.12.2), are sections of the Portals 4.0.2 Network Programming
// Interface (Sandia National Laboratories, 2014). [MELocalIncUHRLength] is newer (4.1,
// SAND2017-3825). The reports were not at hand for this version: the rules follow the reference
// implementation (repository sandialabs/portals4: include/portals4.h, src/ib/ptl_me.c,
// src/ib/ptl_ct.c) and its documentation. The numbers were compared with those in an early
// portals4.h, for the draft of 11 November 2010. Three differences remain: sections 3.2 to 3.8 of
// the draft are 3.3 to 3.9 here, where PtlGetJid (3.9 of the draft) no longer exists;
// PtlCTCancelTriggered is a later insertion before PtlCTGet; and the draft has PtlAtomic in 3.15.4,
// here 3.15.5. Compare a number with the report before you cite it.
//
// # What the caller must do
//
//  1. After each call take all packets with Next and send them. A payload is valid until the next
//     call of the interface.
//  2. Call [NI.Sent] when the data of an operation have left, [NI.Undeliverable] when the network
//     has given the request up.
//  3. Deliver the packets of a pair in the order in which they were sent (2.4); order between kinds
//     of packets in opposite directions is not needed.
//  4. Read events before an append or a search that may find more unexpected headers than the event
//     queue has room for. Flow control protects against messages, not against the process itself.
//  5. Repeat EQGet, EQPoll or CTPoll to wait: PtlEQWait and PtlCTWait belong to the layer that
//     knows what time is.
//
// # What it promises
//
//   - A message takes the first entry that matches, of the priority list, then of the overflow
//     list. An append takes the oldest unexpected headers that match. Neither can be overtaken by
//     the other.
//   - Every operation raises each of its events once. An acknowledgement or reply that answers no
//     operation in progress is an error and changes nothing.
//   - A triggered operation is started exactly once, or is cancelled.
//   - With flow control no event and no header is lost: the portal table entry is disabled instead.
//
// # Choices
//
//   - An event queue that is full loses its oldest event; the next one that is read tells
//     (EQDropped). PT_DISABLED is never lost: it is delivered after the events of the queue.
//   - The communication event of a message precedes the AUTO_UNLINK that the message causes.
//   - An entry with MEAckDisable answers with a silent acknowledgement, so that the initiator does
//     not keep the operation.
//   - A completion acknowledgement (OC) counts as a success whatever became of the message at the
//     target.
//   - A counter that a descriptor, an entry or a triggered operation refers to cannot be freed.
//
// Not implemented: I/O vectors (PTL_IOVEC), unordered matching, long double, and PtlStartBundle,
// which is a hint.
//
// Package explore runs interleavings of small worlds: nicloop check portals.
package portals
