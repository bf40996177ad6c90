package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
)

// tokenVariable is the environment variable with the token of nicloop-serve.
const tokenVariable = "NICLOOP_TOKEN"

func newServe() *cobra.Command {
	var db, listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the database of runs in a browser",
		Long: `Show the database of runs in a browser: runs with filters, failures in groups, the
history of every test, measurements and figures of sweeps, logs and waves.

The server only reads. It listens on this machine alone unless --listen says
otherwise; then every request needs a token, which is in the address that is
printed (or in ` + tokenVariable + `, of 16 characters or more). What it sends is not encrypted:
across networks that others share, use ssh -L.`,
		Example: `  nicloop serve
  nicloop serve --listen 127.0.0.1:0 --db night.db     any free port
  nicloop serve --listen :8080                         reachable by others, with a token`,
		Args: checked(cobra.NoArgs),
	}
	cmd.Flags().StringVar(&db, "db", defaultMemory, "database of runs")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8765", "`ADDRESS:PORT`; port 0: any free port")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, _, err := net.SplitHostPort(listen)
		if err != nil {
			return misused("--listen %q: expected ADDRESS:PORT, such as 127.0.0.1:8765 or :8765", listen)
		}
		if _, err := os.Stat(db); err != nil {
			return usageError{fmt.Errorf("%w: run nicloop regress first, which makes it", err)}
		}
		return serve(cmd, db, listen)
	}
	return cmd
}

// serverPackage is the server, a separate program so that nicloop does not link its dependencies.
const (
	serverPackage = "github.com/nicloop/nicloop/cmd/nicloop-serve"
	// serverPatience limits the time of its shutdown.
	serverPatience = 5 * time.Second
)

// serve runs the server until it is interrupted.
func serve(cmd *cobra.Command, db, listen string) error {
	ctx := cmd.Context()
	program, remove, err := serverProgram(ctx)
	if err != nil {
		return err
	}
	defer remove()
	c := exec.CommandContext(ctx, program, "-db", db, "-listen", listen)
	c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, serverPatience
	err = c.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil // the normal end
	case errors.As(err, &ended) && ended.ExitCode() == exitUsage:
		return usageError{errFailed}
	}
	return err
}

// serverProgram finds the server beside this program or in PATH, or builds it from this program's
// source.
func serverProgram(ctx context.Context) (program string, remove func(), err error) {
	const name = "nicloop-serve"
	nothing := func() {}
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), name); isFile(beside) {
			return beside, nothing, nil
		}
	}
	if program, err := exec.LookPath(name); err == nil {
		return program, nothing, nil
	}
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return "", nil, err
	}
	program = filepath.Join(dir, name)
	// Build in the source folder of this program: the current folder may hold another package of that
	// name.
	_, source, _, _ := runtime.Caller(0)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, serverPackage)
	build.Dir = filepath.Dir(source)
	if text, err := build.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("%w: the server program %s is neither beside nicloop nor in PATH, and cannot be built here; run go install %s in the source of nicloop: %w\n%s",
			drivers.ErrEnvironment, name, "./cmd/"+name, err, text)
	}
	return program, func() { os.RemoveAll(dir) }, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
