// Package record records everything that passes between software and a device, so that it can be
// replayed on the RTL: an access sequence of a board in the field, examined with waveforms.
//
//	record:FILE!DEVICE        record:board.log!uart:/dev/ttyUSB0
//
// [Replay] repeats the calls of such a log in order, without their timing: a board has a clock of
// its own, and its host is arbitrarily slow.
//
// # Guarantees
//
//   - The log (package translog, version 3) has every access to registers and send windows in
//     order, every wait, and every change of memory, at the call that follows the change; of rings
//     it has only complete entries. Recording changes no result.
//   - When a recorded system is closed and still responds, the compared registers are read once
//     more after they have settled, so that the log contains the final state.
//   - A log has at most [Limit] bytes and is written in blocks of 64 KB. If a part is lost, because
//     the disk is full or the limit is reached, every later call returns a [*WriteError].
//   - Replay reports the first call whose result the RTL cannot give: both results, and the
//     register with its fields or the first differing byte of memory. Values that depend on timing
//     are not compared ([Compared]).
//
// # Obligations of the caller
//
//   - Close the system; Close writes the end of the log.
//   - Record every node that sends to a recorded one in the same system. The core has no register
//     that captures packets from a link, so packets from a board that is not recorded are missing
//     from the log, and the replay diverges there.
//   - Replay on a system that was opened with [Shape], so that each NIC's memory has the device
//     addresses and segments (huge pages, IOMMU mappings) of the recorded one.
//   - Expect a divergence if several senders share a mailbox: the order between senders depends on
//     network timing, which a log does not contain. Traffic without such races, for example that of
//     package selftest, replays exactly.
//
// # How Replay decides
//
// An RTL that behaves identically may be ahead of or behind the board at a given call. When a
// result differs, Replay therefore advances simulated time until the results agree or the hardware
// is quiescent. If they still differ, the RTL is considered ahead in two cases: the log has the
// value later, with no write of the register in between, or the register is a counter whose value
// lies between the current and a later one of the log. Everything else is a divergence.
//
//	board      write MBOX_RP 3   read MBOX_WP -> 5                 read MBOX_WP -> 7
//	RTL        write MBOX_RP 3   read MBOX_WP -> 4, wait, 5: same   read MBOX_WP -> 6, wait, nothing moves: divergence
//
// Except for rings, waits and boards whose memory is moved by calls, the recorder cannot tell who
// changed memory. A change that the RTL's NIC does not make is taken for a store of software; if
// the NIC writes a different value, it is a divergence.
package record
