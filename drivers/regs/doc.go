// Package regs is the contract between software and the NIC: register addresses, register fields
// and the layout of every word that crosses the wire or the mailbox.
//
// All of it is generated from rtl/desc/nicloop.yaml, the same source that the hardware is built
// from; [DescHashValue] equals register DESC_HASH exactly when both come from the same text. A
// caller compares the two before it trusts any other constant of this package.
//
// The types of words ([Header], [Slot], [Pio], [Tail]) are plain integers: reading a field
// allocates nothing. Pack panics on a value that does not fit its field, because a truncated node
// number is a packet to the wrong node; callers check what users give them before packing.
package regs

//go:generate go run ./gen -root ../..
