package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A remote is a simulator process connected by a socket and two message buffers.
type remote struct {
	host *Session
	proc *process
	conn conn
	in   []byte

	// The message buffers are used between handshake and end. bySocket: a message since the last
	// answer used the socket, so the next one must, too.
	commands, events *msgBuffer
	bySocket         bool

	trial trial
	asked time.Time // start of the exchange
}

func (r *remote) start(ctx context.Context, greet func() error) error {
	l, err := listen()
	if err != nil {
		return err
	}
	defer l.close()
	args, err := r.host.cfg.args(l.path)
	if err != nil {
		return err
	}
	if r.proc, err = startProcess(r.host.cfg.Program, args, r.host.cfg.LogFile); err != nil {
		return err
	}
	// From here on a cancelled context kills the simulator, which ends every wait.
	stop := context.AfterFunc(ctx, func() { _ = r.proc.cmd.Process.Kill() })
	defer stop()
	c, err := l.accept(ctx, r.proc.done, r.host.cfg.Patience)
	if err == nil {
		r.conn = c
		err = r.shakeHands(greet)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.host.diagnose(err)
	}
	return nil
}

func (r *remote) shakeHands(greet func() error) error {
	if err := r.conn.checkPeer(r.proc.pid()); err != nil {
		return err
	}
	if err := r.conn.setPatience(r.host.cfg.Patience); err != nil {
		return err
	}
	b, err := r.conn.receive(r.in)
	if err != nil {
		return err
	}
	h, err := decodeHello(b)
	if err != nil {
		return err
	}
	if err := r.host.cfg.compare(h); err != nil {
		return err
	}
	if err := r.conn.send(r.host.mem.layout.append(nil), r.host.mem.fd); err != nil {
		return err
	}
	r.host.mem.handedOver()
	if err := greet(); err != nil {
		return err
	}
	r.commands, r.events = r.host.mem.msgBuffer(commandBuffer), r.host.mem.msgBuffer(eventBuffer)
	r.trial = newTrial(r.host.cfg.Spin)
	return nil
}

func (r *remote) expect() {
	r.asked = time.Now()
	r.trial.begin()
	r.events.expect()
}

func (r *remote) answered(cycles drivers.Cycle) { r.trial.done(time.Since(r.asked), cycles) }

// send sends a message through the buffer if the simulator waits there, otherwise through the
// socket.
func (r *remote) send(b []byte) error {
	r.commands.lookNS = 0
	if r.trial.coming != bothSleep {
		r.commands.lookNS = uint32(simulatorLook)
	}
	fits := !r.bySocket && len(b) <= msgBufferData
	if !fits {
		r.commands.handOver(nil)
	} else if r.commands.handOver(b) {
		return nil
	}
	r.bySocket = true
	return r.conn.write(b)
}

// receive is the opposite direction.
func (r *remote) receive() ([]byte, error) {
	if r.events != nil {
		look := time.Duration(0)
		if r.trial.policy == bothLook {
			look = r.trial.limit
		}
		if b := r.events.take(look); len(b) > 0 {
			return b, nil
		}
	}
	return r.conn.receive(r.in)
}

// diagnose converts an error of the socket to the error that ends the session.
func (r *remote) diagnose(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, drivers.ErrPeerDied):
		if !r.proc.end(time.Second) {
			return fmt.Errorf("%w: it hung up without exiting and was killed", drivers.ErrPeerDied)
		}
		return fmt.Errorf("%w: %s", drivers.ErrPeerDied, r.proc.obituary())
	case errors.Is(err, drivers.ErrStarved):
		r.proc.end(0)
		return fmt.Errorf("%w: no sign of life for %v at cycle %d; killed", err, r.host.cfg.Patience, r.host.now)
	}
	return err
}

// lostLog returns an error if the log of the process is incomplete.
func (r *remote) lostLog() error {
	if r.proc == nil {
		return nil
	}
	return r.proc.log.whole()
}

func (r *remote) hangUp() { r.conn.hangUp() }

func (r *remote) end(grace time.Duration) {
	if r.proc != nil {
		r.proc.end(grace)
	}
	if r.conn.fd >= 0 {
		r.conn.close()
	}
}

func (r *remote) pid() int { return r.proc.pid() }
