// Package ethernet simulates hosts on one Ethernet switch in virtual time. Its sockets are the
// datagram ports, and its streams the stream ports, of host/iwarp: the same verbs run over it as
// over sockets of Linux.
//
//	host ── cable ──┐                          ┌── cable ── host
//	  send buffer   ├─ switch: a queue per port ┤   reassembly, socket buffer
//	host ── cable ──┘                          └── cable ── host
//
// # Guarantees
//
//   - The same configuration and the same calls give the same events at the same times, and the
//     same bytes in a capture, on every machine. The wall clock is never read.
//   - Frames are real: Ethernet II, IPv4, UDP and TCP with checksums. Datagrams of up to 65,507
//     bytes are fragmented to the MTU; a datagram with one lost fragment is lost.
//   - Every frame that a host has sent is counted once: received, lost, dropped by the switch or
//     in flight ([Counters]).
//
// # Cost model
//
// All of these are parameters ([Config]); their defaults are choices, not measurements.
//
//	frame on a cable   (frame + FCS 4 + preamble 8 + gap 12) bytes at Rate, then Cable
//	switch             store and forward: the whole frame, then SwitchLatency, then the output queue
//	datagram sent      SendCost, and FrameCost for every frame
//	datagram received  FrameCost for every frame, and ReceiveCost
//	write to a stream  SendCost, and FrameCost + SegmentCost for every segment
//	segment received   FrameCost + SegmentCost, and ReceiveCost if the reader waits for it
//
// The costs of a host are serial: it has one core for its sockets. A queue of the switch that is
// full drops the frame that arrives (incast). A send buffer that is full refuses the datagram, so a
// sender is limited to the rate of its cable.
//
// # Faults
//
// Loss, duplication, reordering and corruption occur in the switch, each with its own sequence of
// random numbers: a change of one probability leaves the pattern of the others as it is, as long
// as the same frames arrive. Corruption flips one bit behind the check of the FCS. It is therefore
// found by the IPv4 header checksum or the UDP checksum; without the latter (Config.NoChecksum)
// only the CRC32c of iWARP finds it.
//
// # Streams
//
// A stream has the segments of TCP and these of its rules: three-way handshake, cumulative
// acknowledgements of every second segment or after AckDelay, a window with scaling and probes,
// fast retransmission after three repeated acknowledgements, repair of one hole per round trip, and
// retransmission after RetransmitTime with exponential backoff. It has no congestion control: the
// receive buffer of the peer limits what is in flight. It is therefore a cost model of TCP within
// one switch, where the round trip is short, and not a model of TCP in a congested network. The
// retransmission time is fixed, as no round trip is longer than it.
//
// The TCP of gVisor was not used as a library: goroutines of its own process the segments, so that
// the order of events would depend on the scheduler.
//
// # Simplifications
//
// Addresses are static: no ARP. A datagram to a port that is not bound is counted, without an ICMP
// message. A datagram to the own host costs time of the core, but no frames.
package ethernet
