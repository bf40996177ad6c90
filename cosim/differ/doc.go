// Package differ holds the model (cosim/model) to the RTL cycle by cycle: the same traffic goes
// through both, over links in error too, and every packet is followed from its line to its slot. It
// has tests only, which print a histogram of the differences. Four are known that no test meets: a
// slot of a mailbox is written before what RMA reads in the same cycle; a read that memory refuses
// is not sent out; a notification for a ring that is off holds its unit a cycle longer in the
// model, and the write of a translation command's count is not granted among the others there.
//
// Package conform compares what software sees without regard to time.
package differ
