// Package ideal is the NIC of package nic on a network without topology: a test
// double for the layers above drivers. cosim/model has the real network.
//
// # What it promises
//
//   - What nic promises: what software can see is what the RTL shows. A full mailbox
//     blocks its whole node's completer, then the senders, then their send windows;
//     registers stay accessible.
//   - Packets of one source and destination arrive in order. At most a bounded
//     number is on its way to a node (URI key depth).
//   - With Options.Trace, every flit at its injection and ejection, every line,
//     slot and dropped packet, in order of time.
//
// Registers of links and wires answer DECERR: there are none.
//
// Keys of the URI: keys.go, and "nicloop device list ideal".
//
// With clock=wall time is nobody's: package alone drives the NICs whenever there is something for
// them to do, and goroutines and, where somebody serves it (host/broker), programs that run in
// parallel use their devices.
package ideal
