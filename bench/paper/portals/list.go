// Package portals reproduces the tables about Portals 4 of two papers: the limits of offload in the
// paper on receiver-driven rendezvous (RDRP). All experiments are protocol code without a device.
package portals

import "github.com/nicloop/nicloop/bench/paper"

// Experiments returns the experiments.
func Experiments() []*paper.Experiment { return []*paper.Experiment{offloadTable()} }
