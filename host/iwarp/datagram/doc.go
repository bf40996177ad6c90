// Package datagram implements iWARP over datagrams (chapter 6 of the paper): one
// untagged DDP message per UDP datagram without MPA, protected by a CRC32c, and the reliable
// transport under queue pairs of type RD.
//
//	UD  | DDP header 18 | payload | CRC 4 |
//	RD  | RD header 24 | DDP header 18 | payload | CRC 4 |
//
// The offset of DDP (MO) is 0 and the flag Last is set in every datagram. The message sequence
// number counts the messages of a queue pair, whatever their destinations; a receiver uses it only
// to name a message in an error message. An error message travels on the error queue, which has the
// number of the Terminate queue of a connection; its payload is a Report without headers.
//
// The package is pure: a [Reliable] sends nothing itself and is passed the time.
package datagram
