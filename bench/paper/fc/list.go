// Package fc reproduces the figures and tables of FC: flow control of mailboxes.
package fc

import "github.com/nicloop/nicloop/bench/paper"

// Experiments returns the experiments in the order of the paper.
func Experiments() []*paper.Experiment {
	return []*paper.Experiment{
		referenceTimes(), table1(), fig4(), fig6(), table2(), fig9(), fig10(), fig14(), fig16(), fig18(), fig19(), fig20(),
		fig24(), table3(),
	}
}
