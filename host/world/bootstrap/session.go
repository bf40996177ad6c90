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

// A Session is a world that has come together.
type Session struct {
	cfg       Config
	directory world.Directory
	mu        sync.Mutex // one fence at a time

	// Of who has listened:
	listener *Listener
	links    []*link
	members  map[*link][]int
	claimed  []bool
	there    map[*link]bool // at the fence

	// Of who has joined:
	link *link
}

// Join comes to who listens at the address, which may begin to later, and waits until all have
// come.
func Join(ctx context.Context, c Config) (*Session, error) {
	network, address, err := c.check()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*c.Timeout) // who listens gives up before, and says who is missing
	defer cancel()
	s := &Session{cfg: c}
	if err := s.meet(ctx, network, address); err != nil {
		return nil, s.ended(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { s.link.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := s.enter(c); err != nil {
		s.link.Close()
		return nil, s.ended(ctx, err)
	}
	return s, nil
}

// meet connects to the listener until both have proved that they know the token. The listener may
// not be there yet, and one that strangers besiege may hang up: both are tried again until the
// timeout.
func (s *Session) meet(ctx context.Context, network, address string) error {
	began := time.Now()
	for again := 10 * time.Millisecond; ; again = min(2*again, time.Second) {
		err := s.shakeHands(ctx, network, address)
		switch {
		case err == nil || ctx.Err() != nil || !mayCome(err) && !isGone(err):
			return err
		case time.Since(began)+again >= s.cfg.Timeout:
			if isGone(err) {
				err = fmt.Errorf("%w: bootstrap: whoever listens at %s hung up before the handshake was over, for %v: %w",
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

// ended is why a session ended: the context says it better than the connection.
func (s *Session) ended(ctx context.Context, err error) error {
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

// dial connects to who listens at an address, which over a file must be the same user.
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

// Directory says who lives where.
func (s *Session) Directory() world.Directory { return slices.Clone(s.directory) }

// Fence returns when all programs have called it as often. They may take their time: what ends it
// is ctx, or that one dies.
func (s *Session) Fence(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		return s.joinFence(ctx)
	}
	err := s.gather(ctx, nil, (*Listener).fences)
	if err == nil {
		clear(s.there)
		err = s.tellAll(kindGo, nil)
	}
	if err != nil {
		s.giveUp(err)
	}
	return err
}

// Close ends the session; all programs should have passed a last fence.
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

// gather takes events until nobody is missing. The first one is none.
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

// fences takes that a program has come to the fence; it tells which ranks have not.
func (l *Listener) fences(s *Session, e event) (missing []int, err error) {
	switch {
	case e.link == nil:
	case s.members[e.link] == nil: // too late
		e.link.refuse(fmt.Errorf("%w: all of them", ErrClaimed))
	case e.err != nil || e.kind != kindFence || s.there[e.link]:
		return nil, &PeerError{s.members[e.link]}
	default:
		s.there[e.link] = true
	}
	for _, k := range s.links {
		if !s.there[k] {
			missing = append(missing, s.members[k]...)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// tellAll sends a frame to all programs.
func (s *Session) tellAll(kind byte, what any) error {
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

// giveUp tells all why there is no world.
func (s *Session) giveUp(why error) {
	s.listener.once.Do(func() { close(s.listener.over) })
	for _, k := range s.links {
		k.refuse(why)
	}
}

// ---- who has joined ----

// enter claims ranks and waits for the directory.
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

// expect takes the next frame, which must be of a kind. That the other end is gone is its death.
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

// isGone: the connection ended from the other side.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// mayCome: who listens is not there yet.
func mayCome(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// others are the ranks that are not of this program: who has listened is among them.
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
	if err == nil || isGone(err) { // who has hung up may have said why
		_, err = s.expect(kindGo)
	}
	if err != nil {
		return s.ended(ctx, err)
	}
	return nil
}
