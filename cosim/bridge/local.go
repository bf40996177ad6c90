package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/nicloop/nicloop/cosim/inside"
	"github.com/nicloop/nicloop/drivers"
)

// A local is the model in this process: sending a message executes it, and the reply is available
// immediately.
type local struct {
	host  *Session
	log   *os.File
	reply []byte
	ended error // result of the last message

	yielded time.Time

	mu    sync.Mutex // protects model between end and hangUp
	model *inside.Model
}

// CheckInside reports whether the model can run in this process, if that is requested. It needs no
// build.
func (c *Config) CheckInside() error {
	switch {
	case !c.Inside:
		return nil
	case c.Checkpoints != nil:
		return fmt.Errorf("%w: checkpoints are forks of the simulator, which a model inside the host's process cannot have; leave inside=1 out",
			drivers.ErrNotSupported)
	}
	return inside.Supported()
}

// start cannot be interrupted while the model is created, which takes milliseconds.
func (l *local) start(ctx context.Context, greet func() error) error {
	cfg, mem := &l.host.cfg, l.host.mem
	mem.handedOver()
	// There is no socket.
	args, err := cfg.args("inside")
	if err == nil {
		err = l.openLog(cfg.LogFile)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if l.model, err = inside.Open(cfg.Program, append([]string{"nicloop"}, args...), mem.layout.append(nil), mem.bytes, l.log); err != nil {
		return err
	}
	h, err := decodeHello(l.model.Hello())
	if err == nil {
		err = cfg.compare(h)
	}
	if err == nil {
		l.reply = l.model.Reply()
		err = greet()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (l *local) openLog(name string) (err error) {
	if name == "" {
		return nil
	}
	if l.log, err = os.Create(name); err != nil {
		return fmt.Errorf("simulator log: %w", err)
	}
	return nil
}

func (l *local) expect()  {}
func (l *local) pid() int { return 0 }

// yieldAfter is less than the 10 ms that the runtime's monitor thread allows a goroutine. If it
// finds a goroutine in C after that, it retakes the P, and then polls every 20 µs for a while: this
// takes 4 % of the CPU time, and slows the model if both threads share a core. It continues to
// sleep 10 ms at a time if the goroutine has yielded in between.
const yieldAfter = 8 * time.Millisecond

func (l *local) answered(drivers.Cycle) {
	if now := time.Now(); now.Sub(l.yielded) > yieldAfter {
		l.yielded = now
		runtime.Gosched()
	}
}

func (l *local) send(message []byte) error {
	l.ended = l.model.Exchange(message)
	l.reply = nil
	if l.ended == nil || l.ended == io.EOF {
		l.reply = l.model.Reply()
	}
	return l.ended
}

func (l *local) receive() ([]byte, error) {
	switch b := l.reply; {
	case len(b) > 0:
		l.reply = nil
		return b, nil
	case l.ended != nil:
		return nil, l.ended
	}
	return nil, fmt.Errorf("%w: the model has not answered", drivers.ErrProtocol)
}

func (l *local) diagnose(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the model has ended", drivers.ErrPeerDied)
	}
	return err
}

func (l *local) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model != nil {
		l.model.Stop()
	}
}

func (l *local) end(time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model != nil {
		l.model.Close()
		l.model = nil
	}
	if l.log != nil {
		l.log.Close()
	}
}
