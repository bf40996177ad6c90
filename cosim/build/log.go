package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// A buildLog collects the output of the tools; it is written only if one fails.
type buildLog struct {
	file string
	text bytes.Buffer
	env  []string // nil: this process's
	log  *logrus.Logger
}

func newBuildLog(file string, log *logrus.Logger) *buildLog { return &buildLog{file: file, log: log} }

// make runs make in dir and lets r count the compiled files. Verilator's makefiles refuse
// directories whose path contains spaces, because make splits paths there. All paths used here are
// relative, so the makefiles are told that the directory is ".".
func (l *buildLog) make(ctx context.Context, dir string, t *tools, r *report, args ...string) error {
	stats := filepath.Join(dir, "ccache.log")
	l.env = append(os.Environ(), "CCACHE_STATSLOG="+stats)
	defer r.count(stats)
	return l.run(ctx, dir, t.make, append([]string{"CURDIR=."}, args...)...)
}

// run runs a tool in dir. Cancelling ctx kills it with all its children.
func (l *buildLog) run(ctx context.Context, dir, program string, args ...string) error {
	temp, err := os.MkdirTemp("", "nicloop-build-") // killed compilers leave files in it
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	env := l.env
	if env == nil {
		env = os.Environ()
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clip(env), "TMPDIR="+temp)
	cmd.Stdout, cmd.Stderr = &l.text, &l.text
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	fmt.Fprintf(&l.text, "$ cd %s && %s\n", dir, cmd)
	begin := time.Now()
	err = cmd.Run()
	logs.Layer(l.log, "build").WithFields(logrus.Fields{"tool": filepath.Base(program), "dir": dir, "seconds": time.Since(begin).Seconds(), "error": err}).Debug("tool ended")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return l.failure(program, err)
	}
	return nil
}

// ErrBuild: a simulator could not be built, because its RTL is invalid or a tool failed.
var ErrBuild = errors.New("building the simulator")

func (l *buildLog) failure(program string, cause error) error {
	kept := l.file
	if err := os.WriteFile(l.file, l.text.Bytes(), 0o644); err != nil {
		kept = "nowhere (" + err.Error() + ")"
	}
	return fmt.Errorf("%w: %s: %w\n%s\nthe whole log is in %s", ErrBuild, program, cause, firstErrors(l.text.String(), 5), kept)
}

// firstErrors extracts the first n error messages from a log, or its end if it contains no
// recognisable ones.
func firstErrors(log string, n int) string {
	var found []string
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	for _, line := range lines {
		if len(found) < n && (strings.HasPrefix(line, "%Error") || strings.Contains(line, "error:") || strings.Contains(line, "undefined reference")) {
			found = append(found, "  "+line)
		}
	}
	if len(found) == 0 {
		found = lines[max(0, len(lines)-n):]
	}
	return strings.Join(found, "\n")
}
