package runs

import (
	"cmp"
	"slices"
	"strings"
)

// A Change is a test that two runs do not agree about. One of the records is nil if only the other
// run has it.
type Change struct {
	Test   string  `json:"test"`
	Device string  `json:"device"`
	Seed   int64   `json:"seed"`
	Before *Record `json:"before"`
	After  *Record `json:"after"`
}

// Diff compares two runs test by test: verdicts, and cycles of those that both passed. Tests are
// the same if name and seed are; with other devices that compares these.
func Diff(before, after []Record) (list []Change) {
	type key struct {
		test string
		seed int64
	}
	was := map[key]*Record{}
	for i := range before {
		was[key{before[i].Test, before[i].Seed}] = &before[i]
	}
	for i := range after {
		now := &after[i]
		k := key{now.Test, now.Seed}
		old := was[k]
		delete(was, k)
		if old == nil || old.Status != now.Status || old.Status == passed && old.Cycles != now.Cycles {
			list = append(list, Change{now.Test, now.Device, now.Seed, old, now})
		}
	}
	for k, old := range was {
		list = append(list, Change{k.test, old.Device, k.seed, old, nil})
	}
	slices.SortFunc(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), strings.Compare(a.Test, b.Test), cmp.Compare(a.Seed, b.Seed))
	})
	return list
}

// weight puts what broke first, then what was repaired, then what became slower.
func (c *Change) weight() int {
	switch {
	case c.Before == nil || c.After == nil:
		return 0
	case c.After.Status != passed:
		return 4
	case c.Before.Status != passed:
		return 3
	case c.After.Cycles > c.Before.Cycles:
		return 2
	}
	return 1
}
