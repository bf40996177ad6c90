package regress

import (
	"fmt"
	"runtime"
	"strings"
)

// A PanicError is the panic of a test.
type PanicError struct {
	Value any
	Calls []string // "FUNCTION (FILE:LINE)", from the panic to the function of the test
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v\n  %s", e.Value, strings.Join(e.Calls, "\n  "))
}

// safely turns a panic into a failure of the test.
func safely(run func(*T) error, t *T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, panicCalls()}
		}
	}()
	return run(t)
}

// panicCalls returns the calls that led to a panic, without those of the runtime and of the runner:
// they would hide the one line of the test that the reader has to find.
func panicCalls() (calls []string) {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch {
		case strings.HasSuffix(f.Function, "regress.safely"):
			return calls
		case f.Function == "runtime.gopanic":
			panicked, calls = true, nil // of several panics the first one counts
		case panicked && !strings.HasPrefix(f.Function, "runtime."):
			calls = append(calls, fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line))
		}
		if !more {
			return calls
		}
	}
}
