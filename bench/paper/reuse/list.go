// Package reuse reproduces the figures of REUSE: eager messages from reused buffers.
package reuse

import "github.com/nicloop/nicloop/bench/paper"

// Experiments returns the experiments in the order of the paper.
func Experiments() []*paper.Experiment {
	return []*paper.Experiment{fig5(), fig6(), fig7(), fig8(), fig9(), adaptation()}
}
