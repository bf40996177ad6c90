package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A Session is a running simulator.
type Session struct {
	cfg   Config
	proc  *process
	conn  conn
	mem   *shared
	nodes int

	closing atomic.Bool
	// mu is held by every call that touches the socket or the shared memory, so
	// that Close can take both away when none is left inside.
	mu     sync.Mutex
	closed bool

	// The lanes are used between handshake and end; bySocket: a message since the
	// last answer took the socket, so that the next must too.
	commands, events *lane
	bySocket         bool
	trial            trial
	asked            time.Time // the exchange under way
	askedAt          drivers.Cycle

	now     drivers.Cycle
	watches int
	out     []byte // commands that wait for the next Run or ReadReg
	in      []byte
	edges   []Edge
	again   *drivers.Repeated // what was repeated after a fault
	misuse  error             // by a Post, told by the next Run or ReadReg
	broken  error             // why the session is over
}

// Pid is the simulator's process, for those who want to see it die.
func (s *Session) Pid() int { return s.proc.pid() }

// Start starts a simulator and shakes hands with it. It stands at cycle 0 then.
// Cancelling ctx ends Start, not the session.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, nodes: cfg.nodes(), conn: conn{-1},
		out: make([]byte, 0, maxMessage), in: make([]byte, maxMessage+1),
	}
	var err error
	if s.mem, err = newShared(&cfg); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.release(0)
		return nil, err
	}
	return s, nil
}

func (s *Session) start(ctx context.Context) error {
	l, err := listen()
	if err != nil {
		return err
	}
	defer l.close()
	args, err := s.cfg.args(l.path)
	if err != nil {
		return err
	}
	if s.proc, err = startProcess(s.cfg.Program, args, s.cfg.LogFile); err != nil {
		return err
	}
	// From here on a cancelled context kills the simulator, which ends every wait.
	stop := context.AfterFunc(ctx, func() { _ = s.proc.cmd.Process.Kill() })
	defer stop()
	c, err := l.accept(ctx, s.proc.done, s.cfg.Patience)
	if err == nil {
		s.conn = c
		err = s.shakeHands()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return s.diagnose(err)
	}
	s.begin()
	return nil
}

func (s *Session) shakeHands() error {
	if err := s.conn.checkPeer(s.proc.pid()); err != nil {
		return err
	}
	if err := s.conn.setPatience(s.cfg.Patience); err != nil {
		return err
	}
	b, err := s.conn.receive(s.in)
	if err != nil {
		return err
	}
	h, err := decodeHello(b)
	if err != nil {
		return err
	}
	if err := s.cfg.compare(h); err != nil {
		return err
	}
	if err := s.conn.send(s.mem.layout.append(nil), s.mem.fd); err != nil {
		return err
	}
	s.mem.handedOver()
	if _, err = s.answer(nil); err != nil {
		return err
	}
	s.commands, s.events = s.mem.lane(commandLane), s.mem.lane(eventLane)
	s.trial = newTrial(s.cfg.Spin)
	return nil
}

// compare checks that the simulator is the one that was asked for.
func (c *Config) compare(h hello) error {
	mismatch := func(what string, want, got any) error {
		return fmt.Errorf("%w: handshake: %s: expected %v, the simulator has %v; build it anew", drivers.ErrProtocol, what, want, got)
	}
	switch dims := [3]int{int(h.dims[0]), int(h.dims[1]), int(h.dims[2])}; {
	case int(h.nodes) != c.nodes():
		return mismatch("nodes", c.nodes(), h.nodes)
	case dims != c.Dims:
		return mismatch("mesh", c.Dims, dims)
	case int(h.vpids) != c.VPIDs:
		return mismatch("VPIDs", c.VPIDs, h.vpids)
	case h.descHash != c.DescHash:
		return mismatch("description hash", fmt.Sprintf("0x%016x", c.DescHash), fmt.Sprintf("0x%016x", h.descHash))
	case h.buildHash != c.BuildHash:
		return mismatch("build hash", fmt.Sprintf("%x", c.BuildHash), fmt.Sprintf("%x", h.buildHash))
	}
	return nil
}

// begin posts what the session starts with.
func (s *Session) begin() {
	if s.cfg.Trace != nil {
		s.put(command{typ: cmdTrace, value: 1})
	}
	if w := s.cfg.Waves; w != nil {
		s.put(command{typ: cmdWaves, at: w.From, value: uint64(w.To)})
	}
}

// diagnose makes an error of the socket the error that ends the session.
func (s *Session) diagnose(err error) error {
	switch {
	case s.closing.Load():
		return drivers.ErrClosed
	case errors.Is(err, io.EOF), errors.Is(err, drivers.ErrPeerDied):
		if !s.proc.end(time.Second) {
			return fmt.Errorf("%w: it hung up without exiting and was killed", drivers.ErrPeerDied)
		}
		return fmt.Errorf("%w: %s", drivers.ErrPeerDied, s.proc.obituary())
	case errors.Is(err, drivers.ErrStarved):
		s.proc.end(0)
		return fmt.Errorf("%w: no sign of life for %v at cycle %d; killed", err, s.cfg.Patience, s.now)
	}
	return err
}

// fail ends the session with err, unless it has ended before.
func (s *Session) fail(err error) error {
	if s.broken == nil {
		s.broken = err
		s.conn.hangUp()
	}
	return s.broken
}

// Close ends the simulator and frees everything. A Run in another goroutine
// returns ErrClosed.
func (s *Session) Close() error {
	grace := s.shutDown()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.release(grace)
	}
	return nil
}

// shutDown asks the simulator to end and says how long that may take. It is orderly,
// with waves written to the end, unless somebody is inside a call.
func (s *Session) shutDown() time.Duration {
	if s.closing.Swap(true) {
		return interruptGrace
	}
	if !s.mu.TryLock() {
		s.conn.hangUp()
		return interruptGrace
	}
	defer s.mu.Unlock()
	if s.broken != nil {
		return interruptGrace
	}
	s.put(command{typ: cmdShutdown})
	_ = s.flush()
	return shutdownGrace
}

func (s *Session) release(grace time.Duration) {
	if s.proc != nil {
		s.proc.end(grace)
	}
	if s.conn.fd >= 0 {
		s.conn.close()
	}
	s.mem.close()
}
