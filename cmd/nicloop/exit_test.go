package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
)

// TestExitCodes: who reads only the code must not take a full disk for a broken NIC.
func TestExitCodes(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("while doing something: %w", err) }
	killed := exec.Command("sh", "-c", "kill -9 $$").Run()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{errors.New("message 3 from rank 1 differs at byte 7"), exitFailed},
		{errFailed, exitFailed},
		{wrap(drivers.ErrAssertion), exitFailed},
		{&bench.LostError{}, exitFailed},
		{&drivers.BusError{}, exitFailed},
		{misused("what?"), exitUsage},
		{wrap(drivers.ErrConfig), exitUsage},
		{wrap(drivers.ErrNotSupported), exitUsage},
		{wrap(drivers.ErrEnvironment), exitEnvironment},
		{wrap(drivers.ErrPeerDied), exitEnvironment},
		{wrap(build.ErrBuild), exitEnvironment},
		{wrap(&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), exitEnvironment},
		{wrap(killed), exitEnvironment},
		{wrap(&exec.Error{Name: "verilator", Err: exec.ErrNotFound}), exitEnvironment},
		{errHung, exitHang},
		{wrap(&bench.Verdict{Class: bench.RTLStall}), exitHang},
		{wrap(drivers.ErrStarved), exitHang},
		{wrap(&bench.Verdict{Class: bench.Limited}), exitStopped},
		{wrap(errTimeUp), exitStopped},
		{wrap(context.Canceled), exitStopped},
		{errors.Join(context.DeadlineExceeded, drivers.ErrPeerDied), exitStopped},
	} {
		require.Equal(t, c.want, exitCode(c.err), "%v", c.err)
	}
}
