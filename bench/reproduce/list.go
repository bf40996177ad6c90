// Package reproduce lists the experiments of all papers; package paper runs and judges them.
package reproduce

import (
	"fmt"
	"path"
	"slices"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/adapt"
	"github.com/nicloop/nicloop/bench/paper/dgram"
	"github.com/nicloop/nicloop/bench/paper/fc"
	"github.com/nicloop/nicloop/bench/paper/portals"
	"github.com/nicloop/nicloop/bench/paper/rdrp"
	"github.com/nicloop/nicloop/bench/paper/reuse"
	"github.com/nicloop/nicloop/bench/paper/spec"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// All returns the experiments of all papers.
func All() []*paper.Experiment {
	return slices.Concat(fc.Experiments(), rdrp.Experiments(), portals.Experiments(), spec.Experiments(), reuse.Experiments(), adapt.Experiments(), dgram.Experiments())
}

// Find returns the experiments whose IDs match the patterns, in the order of All.
func Find(patterns []string) (list []*paper.Experiment, err error) {
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

func ids(all []*paper.Experiment) (list []string) {
	for _, x := range all {
		list = append(list, x.IDs...)
	}
	return list
}
