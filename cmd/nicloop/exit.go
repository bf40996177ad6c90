package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/host/world"
)

// Exit codes. exitText tells people.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitEnvironment = 3
	exitHang        = 4
	exitStopped     = 5
)

const exitText = `Exit codes: 0 passed, 1 a test or a claim failed, 2 usage, 3 the environment (a tool
or device is missing or died, the cache or an output cannot be written), 4 a hang,
with a verdict, 5 interrupted or out of (real or simulated) time.`

// errFailed: the command has already said what failed.
var errFailed = errors.New("failed")

// errHung is errFailed for hangs.
var errHung = errors.New("hung")

// usageError marks what the user must type differently.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// misused is a usageError of a text.
func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// coded is an error that another nicloop ended with.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string { return c.err.Error() }
func (c coded) Unwrap() error { return c.err }

// errTimeUp: --timeout is over.
var errTimeUp = errors.New("given up")

func exitCode(err error) int {
	var usage usageError
	var other coded
	var verdict *bench.Verdict
	var stall *world.StallError
	var stuck *stuckError
	var memory *limits.MemoryError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &other):
		return other.code
	case errors.As(err, &usage), isCobraUsage(err):
		return exitUsage
	case stopped(err), errors.As(err, &verdict) && verdict.Class == bench.Limited:
		return exitStopped
	case errors.As(err, &memory) && memory.Total:
		return exitUsage
	case errors.As(err, &memory):
		return exitEnvironment
	case errors.Is(err, errHung), errors.As(err, &verdict), errors.As(err, &stall), errors.As(err, &stuck), errors.Is(err, drivers.ErrStarved):
		return exitHang
	case errors.Is(err, drivers.ErrConfig), errors.Is(err, drivers.ErrNotSupported):
		return exitUsage
	case ofTheMachine(err):
		return exitEnvironment
	}
	return exitFailed
}

// stopped: somebody or the clock ended it, whatever else broke then.
func stopped(err error) bool {
	return errors.Is(err, errTimeUp) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ofTheMachine: no claim about the hardware failed, but what the operating system refused, or a
// program that broke.
func ofTheMachine(err error) bool {
	for _, known := range []error{drivers.ErrEnvironment, drivers.ErrPeerDied, drivers.ErrProtocol, build.ErrBuild} {
		if errors.Is(err, known) {
			return true
		}
	}
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	var program *exec.Error
	var ended *exec.ExitError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &call) || errors.As(err, &program) || errors.As(err, &ended) || errors.As(err, &number)
}

// isCobraUsage: cobra's own argument errors have no type.
func isCobraUsage(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown command")
}

// An output is where a command prints. Nobody looks at the error of each line, so it keeps the
// first: a result that could not be written is none.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// and adds what could not be written to how the command ended.
func (o *output) and(err error) error {
	if o.err == nil || errors.Is(err, o.err) {
		return err
	}
	return errors.Join(fmt.Errorf("what this command prints is lost: %w", o.err), err)
}
