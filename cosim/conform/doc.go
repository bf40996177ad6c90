// Package conform holds the systems to one behaviour: what software can see of the
// RTL, of the model (cosim/model) and of its double without a network (cosim/ideal)
// is the same, timing apart. It has tests only. A difference means that tests on the
// twins prove nothing. Package differ compares the timing.
package conform
