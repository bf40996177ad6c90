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

// claim is the first message of a program.
type claim struct {
	Size  int                    `json:"size"`
	World string                 `json:"world"`
	Ranks map[int]world.Location `json:"ranks"`
}

// A Listener accepts the programs of a world.
type Listener struct {
	cfg    Config
	l      net.Listener
	events chan event
	failed chan error    // accepting connections fails permanently
	over   chan struct{} // closed when events are no longer received
	once   sync.Once
}

// An event is a frame or an error from a connection.
type event struct {
	link *link
	kind byte
	data []byte
	err  error
}

// strangersPerAddress limits concurrent handshakes per address over TCP.
const strangersPerAddress = 64

// Listen starts to accept programs. Pass Addr to the other programs, then call Wait.
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

// Addr is the address to join at. A TCP port 0 is replaced by the actual port.
func (l *Listener) Addr() string {
	if u, ok := l.l.(*usersock.Listener); ok {
		return "unix:" + u.Path()
	}
	return "tcp:" + l.l.Addr().String()
}

// Close stops listening without establishing a world.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.over) })
	if err := l.l.Close(); !errors.Is(err, net.ErrClosed) { // Wait may have closed it already
		return err
	}
	return nil
}

func (l *Listener) accept() {
	c := admission.Config{Name: "bootstrap"}
	if l.l.Addr().Network() != "unix" { // over unix sockets all programs belong to this user
		c.PerAddress = strangersPerAddress
	}
	start := func(f func()) { go f() }
	if err := admission.New(c).Serve(context.Background(), l.l.Accept, start, l.handshake); err != nil {
		l.failed <- err
	}
}

// handshake authenticates a new connection within a sixth of the timeout. Until the peer has proved
// that it knows the token, it costs only a few hundred bytes, and newer connections may evict it.
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
		l.deliver(event{link: k, kind: kind, data: data})
	}
}

// deliver passes on an event unless the listener has ended.
func (l *Listener) deliver(e event) bool {
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

// follow delivers all further frames of a program as events.
func (l *Listener) follow(k *link) {
	for {
		kind, data, err := k.receive()
		if !l.deliver(event{k, kind, data, err}) || err != nil {
			return
		}
	}
}

// Wait blocks until all ranks are claimed, then distributes the directory and stops listening.
func (l *Listener) Wait(ctx context.Context) (*Session, error) {
	s := &Session{cfg: l.cfg, listener: l, members: map[*link][]int{}, arrived: map[*link]bool{}, directory: make(world.Directory, l.cfg.Size), claimed: make([]bool, l.cfg.Size)}
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
		err = s.broadcast(kindDirectory, s.directory)
	}
	if err != nil {
		s.giveUp(err)
		return nil, err
	}
	return s, nil
}

// claims handles the claim of a program and returns the ranks that are still missing.
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
