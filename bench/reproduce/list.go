package reproduce

import (
	"fmt"
	"path"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// All returns the experiments of all papers.
func All() []*Experiment {
	return slices.Concat(fcExperiments(), rdrpExperiments(), specExperiments(), reuseExperiments(), adaptExperiments())
}

// fcExperiments returns the experiments in the order of the paper.
func fcExperiments() []*Experiment {
	return []*Experiment{
		fcReferences, fcTable1, fcFig4, fcFig6, fcTable2, fcFig9, fcFig10, fcFig14, fcFig16, fcFig18, fcFig19, fcFig20,
		fcFig24, fcTable3,
	}
}

// rdrpExperiments returns the experiments in the order of the paper.
func rdrpExperiments() []*Experiment {
	return []*Experiment{rdrpFig1, rdrpFig4, rdrpFig5, rdrpBounds}
}

// specExperiments returns the experiments in the order of the paper.
func specExperiments() []*Experiment {
	return []*Experiment{specFig3, specFig4, specFig414, specFig416, specFig417, specFig419}
}

// reuseExperiments returns the experiments in the order of the paper.
func reuseExperiments() []*Experiment {
	return []*Experiment{reuseFig5, reuseFig6, reuseFig7, reuseFig8, reuseFig9, reuseTable}
}

// adaptExperiments returns the experiments in the order of the paper.
func adaptExperiments() []*Experiment {
	return []*Experiment{adaptFig1, adaptFig2, adaptFig8, adaptFig9, adaptFig10}
}

// Find returns the experiments whose IDs match the patterns, in the order of All.
func Find(patterns []string) (list []*Experiment, err error) {
	all := All()
	picked := make([]bool, len(all))
	for _, p := range patterns {
		found := false
		for i, x := range all {
			for _, id := range x.IDs {
				ok, err := path.Match(p, id)
				if err != nil {
					return nil, fmt.Errorf("%w: pattern %q: %w", drivers.ErrConfig, p, err)
				}
				picked[i] = picked[i] || ok
				found = found || ok
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: no experiment %q%s; nicloop reproduce --list shows them", drivers.ErrConfig, p, suggest.Nearest(p, ids(all)))
		}
	}
	for i, x := range all {
		if picked[i] {
			list = append(list, x)
		}
	}
	return list, nil
}

func ids(all []*Experiment) (list []string) {
	for _, x := range all {
		list = append(list, x.IDs...)
	}
	return list
}
