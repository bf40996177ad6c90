package libfabric

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/usersock"
)

// A Program is what mpirun starts on every rank.
type Program struct {
	Provider       string   // the folder of the provider
	Arguments      []string // the program and its arguments
	Launcher       []string // additional arguments of mpirun
	RMAWindows     bool     // windows of MPI use one-sided operations instead of messages
	Stdin          *os.File // nil: none
	Stdout, Stderr io.Writer
}

// A Launch is mpirun and the programs that it has started.
type Launch struct {
	s      *Server
	cmd    *exec.Cmd
	remove func() error  // the folder of temporary files
	ended  chan struct{} // closed when mpirun has ended, with err
	err    error
}

// Launch starts the programs. Settings of Open MPI leave it no transport but libfabric, and no
// shared memory beside it: messages there would be invisible.
func (s *Server) Launch(p Program) (*Launch, error) {
	tmp, remove, err := usersock.TempDir("nicloop-mpi-")
	if err != nil {
		return nil, err
	}
	btl, osc := "self", "pt2pt"
	if p.RMAWindows {
		btl, osc = "self,ofi", "rdma"
	}
	args := []string{
		"--oversubscribe", "--bind-to", "none", "-np", strconv.Itoa(s.Ranks),
	}
	for _, set := range [][2]string{
		{"pml", "cm"}, {"mtl", "ofi"}, {"mtl_ofi_provider_include", "nicloop"}, {"btl", btl}, {"osc", osc},
		{"plm", "isolated"}, {"orte_tmpdir_base", tmp},
	} {
		if !slices.Contains(p.Launcher, set[0]) { // mpirun accepts each of them once
			args = append(args, "--mca", set[0], set[1])
		}
	}
	if os.Getuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	for _, e := range s.Environment(p.Provider) {
		args = append(args, "-x", e)
	}
	args = append(args, p.Launcher...)
	args = append(args, p.Arguments...)
	// Messages of Open MPI contain addresses of memory: with the same ones in every run, the bytes of
	// a run repeat, too.
	name := "mpirun"
	if path, err := exec.LookPath("setarch"); err == nil {
		name, args = path, append([]string{"-R", "mpirun"}, args...)
	}
	if _, err := exec.LookPath("mpirun"); err != nil {
		return nil, errors.Join(noLauncher(), remove())
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	if p.Stdin != nil {
		cmd.Stdin = p.Stdin
	}
	cmd.SysProcAttr = launcherAttributes()
	cmd.WaitDelay = 2 * time.Second
	l := &Launch{s: s, cmd: cmd, remove: remove, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, remove())
	}
	go l.watch()
	return l, nil
}

func noLauncher() error {
	return fmt.Errorf("%w: mpirun is not installed; install: scripts/setup-debian.sh --mpi", drivers.ErrEnvironment)
}

// watch waits for mpirun. When it has ended, no program will call any more.
func (l *Launch) watch() {
	l.err = l.cmd.Wait()
	close(l.ended)
	switch n := l.s.Connected(); {
	case l.err != nil:
		l.s.End(l.failure())
	case n < l.s.Ranks:
		l.s.End(fmt.Errorf("the program has ended and no message crossed the NIC: %d of %d ranks have opened the provider; "+
			"expected a program of Open MPI that calls MPI_Init", n, l.s.Ranks))
	default:
		l.s.End(errors.New("mpirun has ended"))
	}
}

// Wait waits until all programs have ended.
func (l *Launch) Wait(ctx context.Context) error {
	select {
	case <-l.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.err != nil {
		return l.failure()
	}
	return nil
}

// failure is the error of a program that failed: not of the machine, so the status is only text.
func (l *Launch) failure() error {
	if err := l.s.aborted(); err != nil {
		return err
	}
	return fmt.Errorf("the program failed: mpirun: %v", l.err)
}

// stopTime is how long mpirun has to end the programs before they are killed.
const stopTime = 700 * time.Millisecond

// Stop ends the programs that still run, and adds to err, the reason, what went wrong.
func (l *Launch) Stop(err error) error {
	if err == nil {
		<-l.ended
		return l.clean(nil)
	}
	l.s.End(err)
	_ = l.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-l.ended:
	case <-time.After(stopTime):
		_ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL)
		for _, link := range l.s.links {
			if pid := int(link.pid.Load()); pid > 0 && !link.dead.Load() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		<-l.ended
	}
	return l.clean(err)
}

func (l *Launch) clean(err error) error {
	return errors.Join(err, l.remove())
}
