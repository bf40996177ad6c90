package bridge

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A process is the simulator and what it prints.
type process struct {
	cmd  *exec.Cmd
	log  *logTail
	done chan struct{} // closed once the process is reaped
}

// startProcess starts the simulator. Its thread stays locked until it is reaped: the
// simulator asks the kernel to die with its parent, and means that thread.
func startProcess(program string, args []string, logFile string) (*process, error) {
	log, err := newLogTail(logFile)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, args...), log: log, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.WaitDelay = time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // told by ProcessState
			log.close()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		log.close()
		return nil, fmt.Errorf("starting the simulator: %w", err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// end gives the process some time to exit, then kills it. It reports whether it
// exited by itself.
func (p *process) end(grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	return false
}

// obituary says how the process ended and what it said last.
func (p *process) obituary() string {
	s := p.cmd.ProcessState.String()
	if tail := p.log.tail(10); tail != "" {
		s += "; it said:\n" + tail
	}
	return s
}

// A logTail keeps the end of what was written to it, and passes all of it on to a
// file if there is one.
type logTail struct {
	mu   sync.Mutex
	buf  []byte
	file *os.File
	lost error // why the file does not hold all of it
}

const logTailBytes = 16384

func newLogTail(file string) (*logTail, error) {
	l := &logTail{}
	if file == "" {
		return l, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("simulator log: %w", err)
	}
	l.file = f
	return l, nil
}

func (l *logTail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	if len(l.buf) > 2*logTailBytes {
		l.buf = append(l.buf[:0], l.buf[len(l.buf)-logTailBytes:]...)
	}
	if l.file != nil && l.lost == nil {
		if _, err := l.file.Write(b); err != nil {
			l.lost = fmt.Errorf("%w: room for the simulator's log: %w", drivers.ErrEnvironment, err)
		}
	}
	return len(b), nil // else nobody would read on, and the simulator die of it
}

// whole says whether all that was written is in the file.
func (l *logTail) whole() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// tail gives the last n lines.
func (l *logTail) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimRight(string(l.buf), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func (l *logTail) close() {
	if l.file == nil {
		return
	}
	if err := l.file.Close(); err != nil && l.whole() == nil {
		l.lost = fmt.Errorf("%w: room for the simulator's log: %w", drivers.ErrEnvironment, err)
	}
}
