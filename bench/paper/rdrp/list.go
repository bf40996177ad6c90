// Package rdrp reproduces the figures of RDRP: congestion from slow memories, and bounds on what is
// outstanding.
package rdrp

import "github.com/nicloop/nicloop/bench/paper"

// Experiments returns the experiments in the order of the paper.
func Experiments() []*paper.Experiment {
	return []*paper.Experiment{fig1(), fig4(), fig5(), boundsOfNetworks()}
}
