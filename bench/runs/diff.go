package runs

import (
	"cmp"
	"slices"
	"strings"
)

// A Change is a test whose result differs between two runs. One of the records is nil if only the
// other run contains the test.
type Change struct {
	Test   string  `json:"test"`
	Device string  `json:"device"`
	Seed   int64   `json:"seed"`
	Before *Record `json:"before"`
	After  *Record `json:"after"`
}

// Common returns the changes of tests that both runs decided, and counts the tests that only one of
// them contains or decided: a run of some tests, or an interrupted one, is compared by what it has.
func Common(changes []Change) (common []Change, onlyBefore, onlyAfter int) {
	for _, c := range changes {
		before, after := c.Before.decided(), c.After.decided()
		switch {
		case before && after:
			common = append(common, c)
		case before:
			onlyBefore++
		case after:
			onlyAfter++
		}
	}
	return common, onlyBefore, onlyAfter
}

// decided reports whether a test has a verdict.
func (r *Record) decided() bool { return r != nil && r.Status != stopped }

// Diff compares two runs test by test: verdicts, and cycles if both passed. Tests correspond if
// name and seed are equal; the devices may differ.
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

// weight sorts changes: broken tests first, then repaired ones, then slower ones.
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
