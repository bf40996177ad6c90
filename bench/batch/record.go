package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// A Task is one command of this program. Its arguments should select JSON output.
type Task struct {
	Args []string `json:"args"`
	// Clean is a directory that is removed before the task starts on a cluster, because a lost node
	// may have left a partial result in it.
	Clean string `json:"clean,omitempty"`
}

// A Record is the result of a task.
type Record struct {
	Exit    int             `json:"exit"`
	Result  json.RawMessage `json:"result,omitempty"` // standard output, if it is JSON
	Error   string          `json:"error,omitempty"`  // error message
	Machine string          `json:"machine"`
	Real    float64         `json:"real_s"`
}

// Machine is the name of this computer in records.
func Machine() string {
	host, err := os.Hostname()
	if name := os.Getenv("SLURMD_NODENAME"); name != "" {
		host = name
	} else if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s, %d cores, %s", host, runtime.NumCPU(), runtime.GOARCH)
}

// patience is the time that a command gets to stop after a signal.
const patience = 10 * time.Second

// errorBytes is the number of last bytes kept of a command's error output.
const errorBytes = 16 << 10

// Perform runs a task on this machine. An error means that the task did not run to its end.
func Perform(ctx context.Context, program string, t Task) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, context.Cause(ctx)
	}
	// The parent-death signal is sent when the thread that started the child exits.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, program, t.Args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	begin := time.Now()
	err := cmd.Run()
	if ctx.Err() != nil {
		return Record{}, context.Cause(ctx)
	}
	r := Record{Machine: Machine(), Real: time.Since(begin).Seconds()}
	var ended *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &ended) && ended.Exited():
		r.Exit = ended.ExitCode()
	default:
		return Record{}, fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(t.Args, " "), err)
	}
	if text := bytes.TrimSpace(out.Bytes()); json.Valid(text) {
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			return Record{}, err
		}
		r.Result = line.Bytes()
	}
	logs.Layer(nil, "batch").WithFields(logrus.Fields{"task": strings.Join(t.Args, " "), "exit": r.Exit, "seconds": r.Real}).Debug("task ended")
	if r.Exit != 0 {
		said := strings.TrimSpace(errOut.String())
		r.Error = said[max(0, len(said)-errorBytes):]
	}
	return r, nil
}

// save writes a record atomically: after a crash the file is either complete or missing.
func (r *Record) save(file string) (err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(file), ".part-*")
	if err != nil {
		return err
	}
	_, err = part.Write(append(text, '\n'))
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// load reads a record; ok is false if there is none.
func load(file string) (r Record, ok bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err == nil, err
}
