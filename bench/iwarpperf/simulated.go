package iwarpperf

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nicloop/nicloop/cosim/ethernet"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/iwarp"
)

// etherPort is the UDP port of both ends on a simulated network.
const etherPort = 7174

// SimulatedKinds returns the types of queue pairs that a simulated network carries.
func SimulatedKinds() []string { return []string{"ud", "rd"} }

// simulated opens both ends on hosts 0 and 1 of a network.
func (c *Client) simulated(kind iwarp.QPType, n *ethernet.Network) error {
	if kind == iwarp.RC {
		return fmt.Errorf("%w: rc over %s: it has no TCP; use ud or rd", drivers.ErrConfig, ethernet.Scheme)
	}
	// Both types of a run may share a network, so each has its own ports.
	port := etherPort + uint16(kind)
	server, err := n.Bind(1, port)
	if err != nil {
		return err
	}
	client, err := n.Bind(0, port)
	if err != nil {
		return err
	}
	e, err := openAt(kind, iwarp.Attachment{Datagram: server}, slots, n.Clock, 1)
	if err != nil {
		return err
	}
	c.local, c.to, c.ether = &echo{endpoint: e}, server.Address(), n
	c.endpoint, err = openAt(kind, iwarp.Attachment{Datagram: client}, slots, n.Clock, 1)
	return err
}

// pass advances a simulated network to its next event, or the next timer of an end.
func (c *Client) pass() {
	if c.ether == nil {
		return
	}
	if next := c.ether.NextWork(c.endpoint, c.local.endpoint); next < drivers.Never {
		c.ether.AdvanceTo(next)
	}
}

// bothEnds is the program of the client and of the server within this program.
type bothEnds struct {
	c   *Client
	err error
}

func (b *bothEnds) Progress() bool {
	if b.err != nil {
		return false
	}
	var worked bool
	worked, b.err = b.c.progress()
	return worked
}

func (b *bothEnds) Deadline() (time.Duration, bool) {
	x, ok := b.c.Deadline()
	if y, also := b.c.local.Deadline(); also && (!ok || y < x) {
		return y, true
	}
	return x, ok
}

// simulate is await in simulated time. The limit of ud is the time of all replies together.
func (c *Client) simulate(ctx context.Context, sent, replies int, limit time.Duration) (bool, error) {
	ends := &bothEnds{c: c}
	finished := func() bool { return c.sent >= sent && c.count >= replies }
	isDone := func() bool { return ends.err != nil || ctx.Err() != nil || finished() }
	until := c.ether.Now() + drivers.Time(limit)*drivers.Nanosecond
	if c.kind == iwarp.RD {
		until = drivers.Never // the reliable transport itself gives its peer up
	}
	err := c.ether.Run(isDone, until, ends)
	switch {
	case ends.err != nil:
		return false, ends.err
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil:
		return true, nil
	case c.kind != iwarp.UD:
		return false, fmt.Errorf("%w: no reply: %w", ErrFailed, err)
	case errors.Is(err, ethernet.ErrIdle), errors.Is(err, ethernet.ErrLimit):
		c.ether.AdvanceTo(until) // the client waits for its timeout
		return false, nil
	}
	return false, err
}
