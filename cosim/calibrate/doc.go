// Package calibrate measures the cycles of the RTL's blocks, which the model
// (cosim/model) takes as parameters. It looks from outside, at what both show: when
// lines are taken, flits enter and leave the network, slots are written and
// notifications arrive. So the same measurement of the model must give the parameters that
// the model was given, and a test changes each of them to see that.
//
// [Measure] needs an idle system of its own for each experiment and opens them itself.
package calibrate
