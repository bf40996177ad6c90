// Package translog records what software and a NIC said to each other, in a
// compact binary log that package replay plays back and people can read as text.
//
// # What it promises
//
//   - A log holds every call in order, its answer, and the device's writes to the
//     memory ranges that were watched (or named to [Record]), each at the call
//     after which software could see it.
//   - Recording changes no answer and no simulated time.
//   - The format has a version, and a complete log ends with a count and a CRC. A
//     log that was cut off is readable up to the cut. Whatever the bytes, decoding
//     ends in values or in a *[FormatError] with its offset, and never panics.
//
// # What the caller must do
//
//   - Close the recorder; it closes the recorded system, not the file.
//   - Watch memory before the device writes to it: changes elsewhere are not seen.
//
// # Format, version 3
//
// "NICLOG" and the version as two bytes, then the length of and the [Meta] as
// JSON, then operations: a [Kind] byte and its fields as unsigned varints in the
// order of encode.go (cycles as zig-zag differences to the present one), byte
// strings with their length in front. Kind End carries the number of operations
// and the CRC-32 of all bytes before it. Version 1 has no kinds behind WritePIO, and is still read.
package translog
