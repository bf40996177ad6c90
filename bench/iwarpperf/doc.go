// Package iwarpperf measures the verbs of host/iwarp between two programs, or between two ends in
// this program: [Client.Ping] half round trips, [Client.Bandwidth] throughput, and rping of the
// Linux RDMA tools in both roles.
//
// # Protocol between a client and a [Server]
//
//	Send with SE             the server sends the same bytes back
//	Send                     the server counts the message
//	Immediate Data with SE   the server sends the count as Immediate Data, and resets it
//
// A server posts the buffer of a message again when its reply was sent. It has two buffers more
// than [MaxWindow], so a client that keeps at most that many messages outstanding always finds one.
package iwarpperf
