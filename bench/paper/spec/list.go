// Package spec reproduces the figures of SPEC: overlap, progress and speculative rendezvous.
package spec

import "github.com/nicloop/nicloop/bench/paper"

// Experiments returns the experiments in the order of the paper.
func Experiments() []*paper.Experiment {
	return []*paper.Experiment{fig3(), fig4(), fig414(), fig416(), fig417(), fig419()}
}
