// Package mpa implements Marker PDU Aligned framing (RFC 5044, RFC 6581): the start-up frames of a
// connection, their negotiation, and FPDUs with markers and CRC32c over a byte stream.
//
// The package is pure: it neither reads nor writes a socket and knows no time. A caller passes the
// bytes that it received and sends the bytes that it is given. Errors are codes of package term.
//
//	initiator                                  responder
//	Request  ── MPA ID Req Frame ──────────▶   ParseStart, Respond
//	Complete ◀────────── MPA ID Rep Frame ──   (or Reject)
//	Sender   ── first FPDU, RTR or data ───▶   Receiver; may send from here on
//
// Before the first FPDU of the initiator the responder must not send one (RFC 5044, section 7.1.2).
package mpa
