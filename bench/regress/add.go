package regress

import (
	"fmt"
	"slices"
	"sync"
)

// added holds the tests of modules outside this one.
var added struct {
	sync.Mutex
	tests []Test
}

// Add adds tests to every regression list. A module with tests of its own calls it from init, as
// database/sql does with drivers. A name that is already taken is a mistake of the program, and
// panics.
func Add(tests ...Test) {
	added.Lock()
	defer added.Unlock()
	for _, t := range tests {
		if t.Name == "" || t.Run == nil {
			panic(fmt.Sprintf("regress: test %q has no name or no function", t.Name))
		}
		if slices.ContainsFunc(added.tests, func(x Test) bool { return x.Name == t.Name }) {
			panic(fmt.Sprintf("regress: test %q is added twice", t.Name))
		}
		added.tests = append(added.tests, t)
	}
}

// Added returns the tests that Add has added, in that order.
func Added() []Test {
	added.Lock()
	defer added.Unlock()
	return slices.Clone(added.tests)
}
