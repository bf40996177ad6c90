// Package ddp implements Direct Data Placement (RFC 5041): the headers of tagged and untagged
// segments, segmentation of messages by MULPDU, placement of segments into untagged buffers in any
// order, and the table of STags for tagged buffers.
//
// The package is pure. A [Queue] is the receiving end of one queue number of one stream; it places
// bytes as soon as a segment arrives, and delivers messages in the order of their sequence numbers
// (section 5.2 of the RFC). Errors are codes of package term.
package ddp
