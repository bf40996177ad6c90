package iwarpperf

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nicloop/nicloop/cosim/ethernet"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
)

// etherPort is the port of both ends on a simulated network.
const etherPort = 7174

// simulated opens both ends on hosts 0 and 1 of a network.
func (c *Client) simulated(kind iwarp.QPType, o ClientOptions) error {
	n := o.Network
	if kind == iwarp.RC {
		return c.simulatedConnection(n, o.Markers)
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
	c.to = server.Address()
	return c.openEnds(kind, n, iwarp.Attachment{Datagram: client}, iwarp.Attachment{Datagram: server})
}

// simulatedConnection opens a stream between hosts 0 and 1 and performs the start-up phase of MPA.
func (c *Client) simulatedConnection(n *ethernet.Network, markers bool) error {
	l, err := n.Listen(1, etherPort)
	if err != nil {
		return err
	}
	client, err := n.Dial(0, l.Address())
	if err != nil {
		return err
	}
	var server *ethernet.Stream
	accepted := func() bool { server, _ = l.Accept(); return server != nil || client.Err() != nil }
	if err := errors.Join(n.Run(accepted, drivers.Never), client.Err()); err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	own := options(nil)
	own.Markers = markers
	request, err := exchange(n, client, server, mpa.Request(own))
	if err != nil {
		return err
	}
	reply, theirs, err := mpa.Respond(request, own)
	if err != nil {
		return err
	}
	if reply, err = exchange(n, server, client, reply); err != nil {
		return err
	}
	ours, err := mpa.Complete(own, reply)
	if err != nil {
		return err
	}
	return c.openEnds(iwarp.RC, n, attachStream(client, ours), attachStream(server, theirs))
}

// openEnds opens the client and the server within this program.
func (c *Client) openEnds(kind iwarp.QPType, n *ethernet.Network, client, server iwarp.Attachment) error {
	e, err := openAt(kind, server, slots, n.Clock, 1)
	if err != nil {
		return err
	}
	c.local, c.ether = &echo{endpoint: e}, n
	c.endpoint, err = openAt(kind, client, slots, n.Clock, 1)
	return err
}

// attachStream fits every FPDU to one segment, as RFC 5044 recommends.
func attachStream(s *ethernet.Stream, p mpa.Parameters) iwarp.Attachment {
	return iwarp.Attachment{Stream: s, Parameters: p, MULPDU: mpa.ULPDULimit(s.SegmentBytes(), p.SendMarkers)}
}

// exchange sends a start-up frame and returns it as the peer has received it.
func exchange(n *ethernet.Network, from, to *ethernet.Stream, f mpa.StartFrame,
) (got mpa.StartFrame, err error) {
	out, err := f.Append(nil)
	if err != nil {
		return got, err
	}
	var in []byte
	buffer := make([]byte, len(out))
	failed := n.Run(func() bool {
		var k int
		if k, err = from.Write(out); err != nil {
			return true
		}
		out = out[k:]
		if k, err = to.Read(buffer[len(in):]); err != nil {
			return true
		}
		in = append(in, buffer[len(in):][:k]...)
		var used int
		got, used, err = mpa.ParseStart(in, f.Reply)
		return used > 0 || err != nil
	}, drivers.Never)
	return got, errors.Join(failed, err)
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
