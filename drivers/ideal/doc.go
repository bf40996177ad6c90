// Package ideal is a small functional NIC in Go with VELO and RMA: a test double
// for the layers above drivers. It is not the calibrated model; its latencies are
// round numbers and its network has no topology. It has no write limiter: those
// registers answer DECERR.
//
// # What it promises
//
//   - What software can see is what the RTL shows: registers, refusals, mailbox
//     rings, counters, interrupts, back-pressure. A full mailbox blocks its whole
//     node's completer, then the senders, then their send windows; registers stay
//     accessible.
//   - Packets of one source and destination arrive in order. At most a bounded
//     number is on its way to a node (URI key depth).
//   - Simulated time passes in Run and ReadReg only, and depends on the calls alone.
//   - With Options.Trace, every flit at its injection and ejection, every line,
//     slot and dropped packet, in order of time.
//
// # What the caller must do
//
// What drivers asks for. A posted write that the NIC refuses, and a DMA write
// outside the memory, make Run stop at that cycle and return a *drivers.BusError
// or *drivers.DMAError besides what fired; ReadReg returns them with its answer.
// The system stays usable.
//
// # Scheme
//
//	ideal:[?latency=CYCLES][&depth=PACKETS]
package ideal
