// Package fst reads waveforms in the FST format: signal names, and the values of chosen signals
// within a range of time.
//
// # Guarantees
//
//   - Only the requested signals are decompressed, and only in blocks that overlap the range.
//   - A truncated or corrupt file gives an error. Memory is bounded by a multiple of the file size.
//
// # Limits
//
//   - Value changes must be in blocks of type 8, packed with LZ4 or zlib: that is what Verilator
//     and vcd2fst write. Signals of real numbers and strings are listed, but have no values here.
//
// fstapi.h of GTKWave defines the format.
package fst
