package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/admission"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/host/world"
)

// claim is what a program says at first.
type claim struct {
	Size  int                    `json:"size"`
	World string                 `json:"world"`
	Ranks map[int]world.Location `json:"ranks"`
}

// A Listener is where programs join.
type Listener struct {
	cfg    Config
	l      net.Listener
	events chan event
	failed chan error    // accepting connections fails for good
	over   chan struct{} // nobody takes events any more
	once   sync.Once
}

// An event is what a connection brought.
type event struct {
	link *link
	kind byte
	data []byte
	err  error
}

// strangersPerAddress may have a handshake at a time over TCP.
const strangersPerAddress = 64

// Listen begins to listen. Of what it gives, Addr is what the other programs need, and Wait goes
// on.
func Listen(c Config) (*Listener, error) {
	network, address, err := c.check()
	if err != nil {
		return nil, err
	}
	l := &Listener{cfg: c, events: make(chan event), failed: make(chan error, 1), over: make(chan struct{})}
	if network == "unix" {
		var u *usersock.Listener
		if u, err = usersock.Listen(address, c.uid); err == nil {
			l.l = u
		}
	} else if l.l, err = net.Listen(network, address); err != nil {
		err = fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	go l.accept()
	return l, nil
}

// Addr is the address to join at: of a TCP port 0, the one that was found.
func (l *Listener) Addr() string {
	if u, ok := l.l.(*usersock.Listener); ok {
		return "unix:" + u.Path()
	}
	return "tcp:" + l.l.Addr().String()
}

// Close ends it without a world.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.over) })
	if err := l.l.Close(); !errors.Is(err, net.ErrClosed) { // Wait may have been faster
		return err
	}
	return nil
}

func (l *Listener) accept() {
	c := admission.Config{Name: "bootstrap"}
	if l.l.Addr().Network() != "unix" { // where all are this user's programs
		c.PerAddress = strangersPerAddress
	}
	start := func(f func()) { go f() }
	if err := admission.New(c).Serve(context.Background(), l.l.Accept, start, l.handshake); err != nil {
		l.failed <- err
	}
}

// handshake finds out who has connected, within a sixth of the timeout. Until the connection has
// proved that it knows the token it costs a few hundred bytes and may be evicted while it is
// pending.
func (l *Listener) handshake(g *admission.PendingConn) {
	c := g.Conn
	_ = c.SetDeadline(time.Now().Add(l.cfg.Timeout / 6))
	if usersock.SameUser(c, l.cfg.uid) != nil {
		return
	}
	k, err := greet(c, l.cfg.Token, true)
	if err != nil {
		return
	}
	if err := k.proveAsListener(); err != nil {
		k.refuse(err)
		return
	}
	if !g.Admit() {
		return
	}
	kind, data, err := k.receive()
	switch {
	case err != nil:
		k.refuse(err)
	case kind != kindClaim:
		k.refuse(fmt.Errorf("a frame of kind %q, expected the ranks of a program", kind))
	default:
		_ = c.SetDeadline(time.Time{})
		l.tell(event{link: k, kind: kind, data: data})
	}
}

// tell hands an event over, if anybody wants it.
func (l *Listener) tell(e event) bool {
	select {
	case l.events <- e:
		return true
	case <-l.over:
		if e.err == nil {
			e.link.Close()
		}
		return false
	}
}

// follow tells of all that a program says from now on.
func (l *Listener) follow(k *link) {
	for {
		kind, data, err := k.receive()
		if !l.tell(event{k, kind, data, err}) || err != nil {
			return
		}
	}
}

// Wait waits until all ranks are claimed, and gives what the world is then. It ends the listening.
func (l *Listener) Wait(ctx context.Context) (*Session, error) {
	s := &Session{cfg: l.cfg, listener: l, members: map[*link][]int{}, there: map[*link]bool{}, directory: make(world.Directory, l.cfg.Size), claimed: make([]bool, l.cfg.Size)}
	for r, p := range l.cfg.Mine {
		s.directory[r], s.claimed[r] = p, true
	}
	err := s.gather(ctx, time.After(l.cfg.Timeout), (*Listener).claims)
	if err == nil {
		err = s.directory.Check()
	}
	if closed := l.l.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = s.tellAll(kindDirectory, s.directory)
	}
	if err != nil {
		s.giveUp(err)
		return nil, err
	}
	return s, nil
}

// claims takes what a program claims; it tells which ranks are missing.
func (l *Listener) claims(s *Session, e event) (missing []int, err error) {
	if e.link != nil && e.err != nil {
		return nil, &PeerError{s.members[e.link]}
	}
	if e.link != nil {
		if err := s.admit(e); err != nil {
			e.link.refuse(err)
		} else {
			go l.follow(e.link)
		}
	}
	for r, there := range s.claimed {
		if !there {
			missing = append(missing, r)
		}
	}
	return missing, nil
}

// admit makes a program a member.
func (s *Session) admit(e event) error {
	var c claim
	if e.kind != kindClaim {
		return fmt.Errorf("a frame of kind %q before all have come", e.kind)
	}
	if err := json.Unmarshal(e.data, &c); err != nil {
		return err
	}
	if c.Size != s.cfg.Size || c.World != s.cfg.World {
		return fmt.Errorf("%w: %d ranks of %q, expected %d of %q", ErrDiffers, c.Size, c.World, s.cfg.Size, s.cfg.World)
	}
	ranks := slices.Sorted(maps.Keys(c.Ranks))
	for _, r := range ranks {
		if r < 0 || r >= s.cfg.Size {
			return fmt.Errorf("rank %d: expected 0 to %d", r, s.cfg.Size-1)
		}
		if s.claimed[r] {
			return fmt.Errorf("%w: rank %d", ErrClaimed, r)
		}
	}
	for _, r := range ranks {
		s.directory[r], s.claimed[r] = c.Ranks[r], true
	}
	s.members[e.link] = ranks
	s.links = append(s.links, e.link)
	return nil
}
