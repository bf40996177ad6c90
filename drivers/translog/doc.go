// Package translog records the calls of software to a NIC and their results in a compact binary log
// that package replay plays back and Dump prints as text.
//
// # Guarantees
//
//   - A log has every call in order, its result, and the device's writes to the watched memory
//     ranges (or those given to [Record]), each at the call after which software could observe it.
//   - Recording changes no result and no simulated time.
//   - The format is versioned. A complete log ends with a count and a CRC; a truncated log is
//     readable up to the truncation. Decoding arbitrary bytes gives operations or a *[FormatError]
//     with the offset, and never panics.
//
// # Obligations of the caller
//
//   - Close the recorder; it closes the recorded system, but not the file.
//   - Watch memory before the device writes to it: changes outside watched ranges are not recorded.
//
// # Format, version 3
//
// The log starts with "NICLOG", the version as two bytes, and the [Meta] as JSON with its length in
// front. Operations follow: a [Kind] byte and its fields as unsigned varints in the order of
// encode.go. Cycles are zig-zag encoded differences to the current cycle; byte strings have their
// length in front. Kind End has the number of operations and the CRC-32 of all bytes before it.
// Version 1 lacks the kinds after WritePIO and is still accepted.
package translog
