// Package capture makes the inside of the hardware visible: packets on every link as pcapng with a
// Wireshark dissector, and the time that a packet spends in each block.
//
// # Guarantees
//
//   - [Writer] reassembles the flits of a packet per node, trace point and virtual channel and,
//     with bus=pcie, the words of TLPs per node and direction. The time of a packet is the
//     simulated time of its last flit, so the file is in order of time. Identical runs give
//     identical bytes.
//   - [Latency] attributes the time of VELO packets, under any load, to the blocks on their path,
//     from line to slot. [Flight] lists all stages of one packet on an idle network, VELO or RMA,
//     including software and memory.
//   - [NicLoop], [VELO], [RMA] and [Tail] are gopacket layers that decode and serialise packets;
//     they never panic on any input. [Dissector] is the source of the dissector for Wireshark.
//
// # Requirements for the caller
//
//   - Pass events in order of time, from one goroutine.
//   - Close a Writer before using its output; it does not close the underlying writer.
//
// TLPs use link type DLT_USER1 (148), packets DLT_USER0 (147). Their bytes are the flits, least
// significant byte first.
package capture
