// Package record writes down what software and a body say to each other, so that it can be repeated on the RTL: what a board did at some
// customer's, looked at with waves.
//
//	record:FILE!DEVICE        record:board.log!uart:/dev/ttyUSB0
//
// [Replay] repeats such a log in order rather than in time: a board has its own clock, and a host that takes as long as it likes.
//
// # What it promises
//
//   - The log (package translog, version 3) has every access to registers and send windows in the order in which they were made, every wait, and what
//     memory became, at the call that follows: of a ring whole entries only. Recording changes no answer.
//   - When a recorded system is closed and still answers, the registers that are compared are read once more, when they have come to rest: so a log tells in what state it
//     ended.
//   - A log takes no more than [Limit] bytes, and is written in pieces of 64 KB; what has been lost of it is told: a full disk, or one beyond the limit, gives a
//     [*WriteError] from the next call on.
//   - Replay names the first call whose answer the RTL cannot give: both sides, the register with its fields or the first byte of memory that
//     differs. What says how long something took is not compared ([Compared]).
//
// # What the caller must do
//
//   - Close the system: the log's end is written then.
//   - Have every node that sends to a recorded one in the same system. The core has no register that captures what a link brings in, so what comes
//     from a board that is not recorded is missing, and the replay parts there.
//   - Replay it on a system that was opened with [Shape]: each NIC finds its memory where the recorded one did, in as many pieces (huge pages) or at the
//     address that an IOMMU gave it.
//   - Know that packets of several senders to one mailbox may come in another order on the RTL: order between senders is the network's time, which a log has
//     not got. A replay parts there, though neither side is wrong. Traffic in which nobody races, as that of package selftest, does not.
//
// # How a replay is judged
//
// An RTL that does the same may be ahead of what a board had done at a call, or behind. So whenever an answer differs, simulated time passes
// until it is there or nothing moves any more. If it is not there then, it may be an answer that the log has later (and software has not
// written the register in between), or a counter that is between what it is now and later in the log: the RTL was ahead. All else is a divergence.
//
//	board      write MBOX_RP 3   read MBOX_WP -> 5                 read MBOX_WP -> 7
//	RTL        write MBOX_RP 3   read MBOX_WP -> 4, wait, 5: same   read MBOX_WP -> 6, wait, nothing moves: divergence
//
// Of memory the recorder cannot tell who wrote it, but for rings, waits and boards that move memory by calls. What became different and the NIC of the
// RTL leaves as it was is taken for a store of software; what it wrote otherwise is a divergence.
package record
