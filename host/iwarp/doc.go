// Package iwarp provides RDMA verbs over iWARP: a [Device] with protection domains, memory regions,
// completion queues and queue pairs of the types RC (over a byte stream), UD and RD (over
// datagrams; chapter 6 of the paper proposes them).
//
// # Layers
//
//	verbs     this package
//	RDMAP     rdmap         datagram
//	DDP       ddp           ddp
//	MPA       mpa           -
//	below     StreamPort    DatagramPort
//
// Ports are the only connection to a network. They never block, so one goroutine drives all queue
// pairs of a device with [Device.Progress]. A device is not safe for concurrent use.
//
// # States of a queue pair
//
//	Reset ─▶ Init ─▶ RTR ─▶ RTS ─▶ Error ─▶ Reset
//
// Receives may be posted from Init on, sends in RTS. RTS needs a port. For RC it has finished the
// start-up of MPA; for UD and RD it is a bound socket, and nothing is negotiated. An error in
// any state completes all posted work with StatusFlushed. RC reports it to the peer in a Terminate
// message; UD and RD send one error message to the peer whose message was faulty.
package iwarp
