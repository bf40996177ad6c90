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

// Exit codes; exitText documents them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitEnvironment = 3
	exitHang        = 4
	exitStopped     = 5
)

const exitText = `Exit codes: 0 passed, 1 a test or a claim failed, 2 usage, 3 environment (a tool or
device is missing or died, the cache or an output cannot be written), 4 hang, with
a verdict, 5 interrupted or time limit reached (real or simulated).`

// errFailed is the error of a command that has already reported the failure.
var errFailed = errors.New("failed")

// errHung is errFailed for hangs.
var errHung = errors.New("hung")

// usageError marks errors that the user can fix on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// misused makes a usageError.
func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// coded carries the exit code of a nicloop process that this one ran.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string { return c.err.Error() }
func (c coded) Unwrap() error { return c.err }

// errTimeUp is the cause of a cancellation by --timeout.
var errTimeUp = errors.New("time limit reached")

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
	case isEnvironment(err):
		return exitEnvironment
	}
	return exitFailed
}

// stopped reports whether the user or a time limit ended the command. Errors that follow from that
// are not judged.
func stopped(err error) bool {
	return errors.Is(err, errTimeUp) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// isEnvironment reports whether the operating system or a child process failed, as opposed to a
// claim about the hardware.
func isEnvironment(err error) bool {
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

// isCobraUsage detects cobra's argument errors by text, because they have no type.
func isCobraUsage(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown command")
}

// An output is the standard output of a command. Callers do not check the error of each line, so it
// records the first one: a result that could not be written is a failure.
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

// and joins the write error with the error of the command.
func (o *output) and(err error) error {
	if o.err == nil || errors.Is(err, o.err) {
		return err
	}
	return errors.Join(fmt.Errorf("cannot write the output of this command: %w", o.err), err)
}
