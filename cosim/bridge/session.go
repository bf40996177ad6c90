package bridge

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// A Session is a running simulator.
type Session struct {
	cfg    Config
	peer   peer
	remote // the peer unless Config.Inside
	mem    *shared
	nodes  int

	closing atomic.Bool
	// mu is held by every call that uses the socket or the shared memory, so that Close can release
	// both when no call is active.
	mu     sync.Mutex
	closed bool

	now     drivers.Cycle
	askedAt drivers.Cycle // start of the current exchange
	watches int
	edges   []Edge
	out     []byte            // commands posted since the last Run or ReadReg
	again   *drivers.Repeated // repetition made after a fault
	misuse  error             // by a Post, reported by the next Run or ReadReg
	broken  error             // why the session ended
}

// Pid is the simulator's process, for tests that kill it; 0: none of its own.
func (s *Session) Pid() int { return s.peer.pid() }

// Start starts a simulator and performs the handshake. It is then at cycle 0. Cancelling ctx ends
// Start, not the session.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s, err := newSession(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.release(0)
		return nil, err
	}
	s.begin()
	logs.Layer(cfg.Log, "bridge").WithFields(logrus.Fields{"pid": s.Pid(), "mesh": cfg.Dims, "memory_bytes": cfg.MemoryBytes, "waves": cfg.Waves != nil, "checkpoints": cfg.Checkpoints != nil}).Debug("simulator started")
	return s, nil
}

func newSession(cfg Config) (*Session, error) {
	s := &Session{cfg: cfg, nodes: cfg.nodes(), out: make([]byte, 0, maxMessage)}
	if cfg.Inside {
		s.peer = &local{host: s}
	} else {
		s.remote = remote{host: s, conn: conn{-1}, in: make([]byte, maxMessage+1)}
		s.peer = &s.remote
	}
	var err error
	if s.mem, err = newShared(&cfg); err == nil && cfg.Lent {
		runtime.AddCleanup(s, (*shared).unmap, s.mem)
	}
	return s, err
}

func (s *Session) start(ctx context.Context) error {
	return s.peer.start(ctx, func() error {
		_, err := s.answer(nil)
		return err
	})
}

// compare checks that the simulator matches the request.
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

// begin posts the initial commands of the session.
func (s *Session) begin() {
	for n, list := range s.cfg.Segments {
		for _, g := range list {
			s.put(command{typ: cmdSegment, node: uint16(n), at: drivers.Cycle(g.Off), addr: g.Addr, value: g.Bytes})
		}
	}
	if s.cfg.Trace != nil {
		s.put(command{typ: cmdTrace, value: 1})
	}
	if w := s.cfg.Waves; w != nil {
		s.put(command{typ: cmdWaves, at: w.From, value: uint64(w.To)})
	}
}

// diagnose converts an error of the peer to the error that ends the session.
func (s *Session) diagnose(err error) error {
	if s.closing.Load() {
		return drivers.ErrClosed
	}
	return s.peer.diagnose(err)
}

// fail ends the session with err, unless it has ended already.
func (s *Session) fail(err error) error {
	if s.broken == nil {
		logs.Layer(s.cfg.Log, "bridge").WithFields(logrus.Fields{"cycle": s.now, "error": err}).Debug("session failed")
		s.broken = err
		s.peer.hangUp()
	}
	return s.broken
}

// Close ends the simulator and frees everything. A Run in another goroutine returns ErrClosed.
// Close returns an error if requested waves or a log are incomplete.
func (s *Session) Close() error {
	grace, orderly := s.shutDown()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	pid := s.Pid()
	s.release(grace)
	logs.Layer(s.cfg.Log, "bridge").WithFields(logrus.Fields{"pid": pid, "cycle": s.now, "orderly": orderly}).Debug("simulator ended")
	if !orderly {
		return nil
	}
	return errors.Join(s.checkWaves(), s.lostLog())
}

// shutDown asks the simulator to exit and returns the time that this may take. It is orderly unless
// another goroutine is in a call, which is interrupted.
func (s *Session) shutDown() (grace time.Duration, orderly bool) {
	if s.closing.Swap(true) {
		return s.cfg.interruptGrace(), false
	}
	if !s.mu.TryLock() {
		s.peer.hangUp()
		return s.cfg.interruptGrace(), false
	}
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.cfg.interruptGrace(), false
	}
	s.put(command{typ: cmdShutdown})
	_ = s.flush()
	return s.cfg.grace(), true
}

func (s *Session) release(grace time.Duration) {
	s.peer.end(grace)
	if s.cfg.Lent { // readers of lent memory must not crash
		s.mem.handedOver()
		return
	}
	s.mem.close()
}
