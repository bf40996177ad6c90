// Package rdmap implements the Remote Direct Memory Access Protocol (RFC 5040, and immediate data
// of RFC 7306) as a state machine between work requests and DDP segments.
//
// A [Stream] is one end of a reliable connection. Its caller posts work and buffers, passes it the
// ULPDUs that arrive, sends the segments that Next returns, and polls completions. The package is
// pure: it knows no socket, no clock and no goroutine.
//
// # States
//
//	Open         all operations are allowed
//	Terminating  an error was detected here: the only thing left to send is the Terminate message
//	Closed       the Terminate message was sent or received, or the lower layer has closed
//
// In the last two states every posted work request and buffer completes with StatusFlushed, in the
// order of posting, and Err returns the code. A stream that has failed is never opened again.
package rdmap
