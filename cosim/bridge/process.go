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

// A process is the simulator process and its output.
type process struct {
	cmd  *exec.Cmd
	log  *logTail
	done chan struct{} // closed after the process was reaped
}

// startProcess starts the simulator. The parent thread stays locked until the process is reaped,
// because the simulator's parent-death signal refers to that thread.
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
			_ = p.cmd.Wait() // the result is in ProcessState
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

// end gives the process some time to exit, then kills it. It reports whether it exited by itself.
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

// obituary describes the exit of the process and its last output.
func (p *process) obituary() string {
	s := p.cmd.ProcessState.String()
	if tail := p.log.tail(10); tail != "" {
		s += "; it said:\n" + tail
	}
	return s
}

// A logTail keeps the end of the output, and copies all of it to a file if there is one.
type logTail struct {
	mu   sync.Mutex
	buf  []byte
	file *os.File
	lost error // why the file is incomplete
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
	return len(b), nil // an error would stop the reader, and the simulator would die of SIGPIPE
}

// whole returns an error if the file is incomplete.
func (l *logTail) whole() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// tail returns the last n lines.
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
