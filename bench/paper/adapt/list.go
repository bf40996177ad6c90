// Package adapt reproduces the figures of ADAPT: eager thresholds per pair of ranks.
package adapt

import "github.com/nicloop/nicloop/bench/paper"

// Experiments returns the experiments in the order of the paper.
func Experiments() []*paper.Experiment {
	return []*paper.Experiment{fig1(), fig2(), fig8(), fig9(), fig10(), variation(), reclaim()}
}
