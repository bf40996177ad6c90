// Package ideal is the NIC of package nic on a network without topology: a test double for the
// layers above drivers. cosim/model has the real network.
//
// # Guarantees
//
//   - The guarantees of nic: software observes the same behaviour as with the RTL. A full mailbox
//     blocks its node's completer, then the senders, then their send windows; registers stay
//     accessible.
//   - Packets of one source and destination arrive in order. The number of packets in flight to a
//     node is limited (URI key depth).
//   - Options.Trace reports every flit at its injection and ejection, and every line, slot and
//     dropped packet, in order of time.
//
// Registers of links and wires answer DECERR, because there are none.
//
// Keys of the URI: see keys.go, and "nicloop device list ideal".
//
// With clock=wall the system is free-running: package freerun drives the NICs whenever they have
// work, and goroutines use their devices concurrently, or other programs if a broker serves the
// system (host/broker).
package ideal
