package regress

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// added holds the tests of modules outside this one.
var added struct {
	sync.Mutex
	tests []Test
	from  []string // file:line of the call of Add, by test
	errs  []error
}

// validName matches AREA/NAME. Names are words of command lines and names of folders.
var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*/[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// Add adds tests to every regression list. A module with tests of its own calls it from init, as
// database/sql does with drivers. AddError returns the mistakes in these calls: a panic in init
// would hide them behind a stack trace.
func Add(tests ...Test) {
	from := "a call of regress.Add"
	if _, file, line, ok := runtime.Caller(1); ok {
		from = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	added.Lock()
	defer added.Unlock()
	for _, t := range tests {
		at := slices.IndexFunc(added.tests, func(x Test) bool { return x.Name == t.Name })
		var wrong string
		switch {
		case !validName.MatchString(t.Name):
			wrong = "expected a name of the form AREA/NAME, of letters, digits and . _ + -"
		case t.Run == nil:
			wrong = "it has no function: set Run"
		case at >= 0:
			wrong = "this name is taken by the test added in " + added.from[at]
		default:
			added.tests, added.from = append(added.tests, t), append(added.from, from)
			continue
		}
		added.errs = append(added.errs, fmt.Errorf("%w: %s: test %q: %s", drivers.ErrConfig, from, t.Name, wrong))
	}
}

// AddError returns the errors of all calls of Add, or nil.
func AddError() error {
	added.Lock()
	defer added.Unlock()
	return errors.Join(added.errs...)
}

// Added returns the tests that Add has added, in that order.
func Added() []Test {
	added.Lock()
	defer added.Unlock()
	return slices.Clone(added.tests)
}
