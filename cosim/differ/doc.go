// Package differ holds the model (cosim/model) to the RTL cycle by cycle: the same
// traffic goes through both, and every packet is followed from its line to its slot. It
// has tests only, which print a histogram of the differences: none are known.
//
// Package conform compares what software sees without regard to time.
package differ
