// Package capture makes what happens inside the hardware visible: packets on
// every link as pcapng with a Wireshark dissector, and where a packet's time goes.
//
// # What it promises
//
//   - [Writer] puts a packet's flits together per node, trace point and virtual channel, and with
//     bus=pcie the words of TLPs per node and direction. A packet's time is the simulated time of
//     its last flit, so the file is in order of time. Identical runs give identical bytes.
//   - [Latency] attributes the time of VELO packets under any load to the blocks
//     they passed, from line to slot. [Flight] tells all stages of one packet on an
//     idle network, VELO or RMA, the software's and the memory's too.
//   - [NicLoop], [VELO], [RMA] and [Tail] are gopacket layers that decode and
//     serialize packets; they never panic on any input. [Dissector] is the text of
//     the dissector for Wireshark.
//
// # What the caller must do
//
//   - Hand events over in order of time, from one goroutine.
//   - Close a Writer before using its output; it does not close what it writes to.
//
// TLPs carry link type DLT_USER1 (148), packets DLT_USER0 (147). Their bytes are the flits, least
// significant byte first.
package capture
