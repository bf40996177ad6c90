package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/host/world"
)

// A Session is an established world, as one of its programs takes part in it.
type Session struct {
	cfg       Config
	directory world.Directory
	mu        sync.Mutex // serialises fences

	// Only in the program that listened:
	listener *Listener
	links    []*link
	members  map[*link][]int
	claimed  []bool
	arrived  map[*link]bool // has arrived at the current fence

	// Only in a program that joined:
	link *link
}

// Join connects to the listener at c.Address, which may start later, and waits until all programs
// have joined.
func Join(ctx context.Context, c Config) (*Session, error) {
	network, address, err := c.check()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*c.Timeout) // the listener times out earlier and reports which ranks are missing
	defer cancel()
	s := &Session{cfg: c}
	if err := s.meet(ctx, network, address); err != nil {
		return nil, s.causeOf(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { s.link.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := s.enter(c); err != nil {
		s.link.Close()
		return nil, s.causeOf(ctx, err)
	}
	return s, nil
}

// meet connects to the listener until both sides have proved that they know the token. It retries
// until the timeout while the listener does not exist yet, and when the listener hangs up because
// too many strangers are connecting.
func (s *Session) meet(ctx context.Context, network, address string) error {
	began := time.Now()
	for again := 10 * time.Millisecond; ; again = min(2*again, time.Second) {
		err := s.shakeHands(ctx, network, address)
		switch {
		case err == nil || ctx.Err() != nil || !mayAppear(err) && !isGone(err):
			return err
		case time.Since(began)+again >= s.cfg.Timeout:
			if isGone(err) {
				err = fmt.Errorf("%w: bootstrap: the listener at %s closed connections before the handshake ended, for %v: %w",
					drivers.ErrPeerDied, s.cfg.Address, s.cfg.Timeout, err)
			}
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return err
		}
	}
}

// shakeHands is one attempt of meet.
func (s *Session) shakeHands(ctx context.Context, network, address string) error {
	conn, err := dial(ctx, network, address, s.cfg.uid)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if s.link, err = greet(conn, s.cfg.Token, false); err == nil {
		err = s.link.proveAsJoiner()
	}
	if err != nil {
		conn.Close()
	}
	return err
}

// causeOf returns the cancellation cause if ctx has ended, otherwise err. Connection errors that
// follow from a cancellation are suppressed.
func (s *Session) causeOf(ctx context.Context, err error) error {
	var peer *PeerError
	var missing *MissingError
	if ctx.Err() == nil || errors.As(err, &peer) || errors.As(err, &missing) {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return fmt.Errorf("bootstrap: no answer in %v: %w", 2*s.cfg.Timeout, err)
}

// dial connects to a listener. Over a unix socket the listener must belong to the same user.
func dial(ctx context.Context, network, address string, uid int) (c net.Conn, err error) {
	if network == "unix" {
		c, err = usersock.Dial(ctx, address, uid)
	} else {
		var d net.Dialer
		if c, err = d.DialContext(ctx, network, address); err != nil {
			err = fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	return c, nil
}

// Directory returns the locations of all ranks.
func (s *Session) Directory() world.Directory { return slices.Clone(s.directory) }

// Fence is a barrier of all programs of the world. It has no timeout: it ends early only with ctx
// or when a program dies.
func (s *Session) Fence(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		return s.joinFence(ctx)
	}
	err := s.gather(ctx, nil, (*Listener).fences)
	if err == nil {
		clear(s.arrived)
		err = s.broadcast(kindGo, nil)
	}
	if err != nil {
		s.giveUp(err)
	}
	return err
}

// Close ends the session. All programs should pass a last fence before.
func (s *Session) Close() error {
	if s.link != nil {
		return s.link.Close()
	}
	s.listener.once.Do(func() { close(s.listener.over) })
	for _, k := range s.links {
		k.Close()
	}
	return nil
}

// gather handles events until no rank is missing. It first calls take with an empty event, to learn
// which ranks are missing.
func (s *Session) gather(ctx context.Context, late <-chan time.Time, take func(l *Listener, s *Session, e event) (missing []int, err error)) error {
	missing, err := take(s.listener, s, event{})
	for err == nil && len(missing) > 0 {
		select {
		case e := <-s.listener.events:
			missing, err = take(s.listener, s, e)
		case err = <-s.listener.failed:
		case <-late:
			err = &MissingError{missing, s.cfg.Timeout}
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-s.listener.over:
			err = drivers.ErrClosed
		}
	}
	return err
}

// fences records the arrival of a program at the fence and returns the ranks that have not arrived.
func (l *Listener) fences(s *Session, e event) (missing []int, err error) {
	switch {
	case e.link == nil:
	case s.members[e.link] == nil: // joined after the world was complete
		e.link.refuse(fmt.Errorf("%w: all of them", ErrClaimed))
	case e.err != nil || e.kind != kindFence || s.arrived[e.link]:
		return nil, &PeerError{s.members[e.link]}
	default:
		s.arrived[e.link] = true
	}
	for _, k := range s.links {
		if !s.arrived[k] {
			missing = append(missing, s.members[k]...)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// broadcast sends a frame to all programs.
func (s *Session) broadcast(kind byte, what any) error {
	data, err := json.Marshal(what)
	for _, k := range s.links {
		if err != nil {
			break
		}
		_ = k.SetWriteDeadline(time.Now().Add(s.cfg.Timeout))
		if k.send(kind, data) != nil {
			err = &PeerError{s.members[k]}
		}
	}
	return err
}

// giveUp tells all programs why the world failed, and disconnects them.
func (s *Session) giveUp(why error) {
	s.listener.once.Do(func() { close(s.listener.over) })
	for _, k := range s.links {
		k.refuse(why)
	}
}

// ---- programs that joined ----

// enter claims the ranks of this program and waits for the directory.
func (s *Session) enter(c Config) (err error) {
	data, err := json.Marshal(claim{c.Size, c.World, c.Mine})
	if err != nil {
		return err
	}
	if err := s.link.send(kindClaim, data); err != nil {
		return err
	}
	if data, err = s.expect(kindDirectory); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &s.directory); err != nil {
		return err
	}
	if len(s.directory) != c.Size {
		return fmt.Errorf("bootstrap: a directory of %d ranks, expected %d", len(s.directory), c.Size)
	}
	return s.directory.Check()
}

// expect receives the next frame, which must be of the given kind. A lost connection is reported as
// the death of the other programs.
func (s *Session) expect(kind byte) ([]byte, error) {
	got, data, err := s.link.receive()
	var refused *PeerError
	switch {
	case err == nil && got != kind:
		return nil, fmt.Errorf("bootstrap: a frame of kind %q, expected %q", got, kind)
	case err != nil && !errors.As(err, &refused) && isGone(err):
		return nil, &PeerError{others(s.cfg.Mine, s.cfg.Size)}
	}
	return data, err
}

// isGone reports whether the peer closed the connection.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// mayAppear reports whether the listener does not exist yet.
func mayAppear(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// others returns the ranks of other programs. The listener, whose ranks this program does not know,
// is among them.
func others(mine map[int]world.Location, size int) (list []int) {
	have := slices.Collect(maps.Keys(mine))
	for r := range size {
		if !slices.Contains(have, r) {
			list = append(list, r)
		}
	}
	return list
}

func (s *Session) joinFence(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.link.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := s.link.send(kindFence, nil)
	if err == nil || isGone(err) { // a peer that hung up may have sent the reason before
		_, err = s.expect(kindGo)
	}
	if err != nil {
		return s.causeOf(ctx, err)
	}
	return nil
}
