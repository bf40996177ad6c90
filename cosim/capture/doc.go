// Package capture makes what happens inside the hardware visible: packets on
// every link as pcapng with a Wireshark dissector, and where a packet's time goes.
//
// # What it promises
//
//   - [Writer] puts a packet's flits together per node, trace point and virtual
//     channel. A packet's time is the simulated time of its last flit, so the file
//     is in order of time. Identical runs give identical bytes.
//   - [Latency] attributes a packet's time to the blocks it passed.
//   - [NicLoop], [VELO], [RMA] and [Tail] are gopacket layers that decode and
//     serialize packets; they never panic on any input. [Dissector] is the text of
//     the dissector for Wireshark.
//
// # What the caller must do
//
//   - Hand events over in order of time, from one goroutine.
//   - Close a Writer before using its output; it does not close what it writes to.
//
// Packets carry link type DLT_USER0 (147). Their bytes are the flits, least
// significant byte first.
package capture
