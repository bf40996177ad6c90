package iwarpperf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/nicloop/nicloop/cosim/ethernet"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/socket"
)

// Row is a measurement.
type Row struct {
	QP          string  `json:"qp"` // rc, ud or rd; tcp is a plain TCP stream without iWARP
	Bytes       int     `json:"bytes"`
	Iterations  int     `json:"iterations"`
	Lost        int     `json:"lost"`                       // messages of ud without a reply
	HalfTrip    float64 `json:"half_trip_us,omitempty"`     // median
	MinHalfTrip float64 `json:"min_half_trip_us,omitempty"` // smallest
	Bandwidth   float64 `json:"mb_per_s,omitempty"`         // of both directions together
}

// ClientOptions configure a Client.
type ClientOptions struct {
	QP      string // one of Kinds
	Address string // of a server; empty: a server within this program, on the loopback device
	Token   string
	// Network connects both ends, as its hosts 0 and 1, in this program and in simulated time. It
	// excludes Address.
	Network *ethernet.Network
	Markers bool // of MPA, in both directions of rc over Network
}

// A Client is connected to a server. It is not safe for concurrent use.
type Client struct {
	*endpoint
	name   string
	to     netip.AddrPort
	local  *echo // the server within this program
	ether  *ethernet.Network
	close  []func() error
	sent   int // completed sends since the last start of counting
	bytes  int // received
	count  int // received messages
	want   []byte
	tally  uint64 // the count of the last Immediate Data
	differ error
}

// lossTimeout is the time after which a reply over UD counts as lost.
const lossTimeout = 200 * time.Millisecond

// Open connects a client.
func Open(ctx context.Context, o ClientOptions) (c *Client, err error) {
	c = &Client{name: o.QP}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	kind, ok := kinds[o.QP]
	if !ok {
		return c, fmt.Errorf("unknown type of queue pair %q: expected one of %v", o.QP, Kinds())
	}
	var a iwarp.Attachment
	switch {
	case o.Network != nil:
		return c, c.simulated(kind, o)
	case kind == iwarp.RC && o.Address == "":
		a, err = c.loopback(ctx)
	case kind == iwarp.RC:
		a, err = c.dial(ctx, o.Address, o.Token)
	default:
		a, err = c.bind(kind, o.Address)
	}
	if err != nil {
		return c, err
	}
	c.endpoint, err = open(kind, a, slots)
	return c, err
}

// Close closes the sockets.
func (c *Client) Close() {
	for _, f := range c.close {
		_ = f()
	}
}

func (c *Client) dial(ctx context.Context, address, token string) (a iwarp.Attachment, err error) {
	d := net.Dialer{Timeout: startTimeout}
	conn, err := d.DialContext(ctx, "tcp4", address)
	if err != nil {
		return a, fmt.Errorf("%w: server %s: %w", drivers.ErrEnvironment, address, err)
	}
	c.close = append(c.close, conn.Close)
	a, err = socket.Connect(conn.(*net.TCPConn), options([]byte(token)), startTimeout)
	var rejected *mpa.ErrRejected
	if errors.As(err, &rejected) {
		err = fmt.Errorf("%w; check the token and the server's list of allowed sources", err)
	}
	return a, err
}

// loopback connects to a server within this program.
func (c *Client) loopback(ctx context.Context) (a iwarp.Attachment, err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return a, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	defer l.Close()
	type result struct {
		a   iwarp.Attachment
		c   net.Conn
		err error
	}
	accepted := make(chan result, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			accepted <- result{err: err}
			return
		}
		a, err := accept(conn, admitAll)
		accepted <- result{a, conn, err}
	}()
	if a, err = c.dial(ctx, l.Addr().String(), ""); err != nil {
		return a, err
	}
	r := <-accepted
	if r.c != nil {
		c.close = append(c.close, r.c.Close)
	}
	if r.err != nil {
		return a, r.err
	}
	c.local, err = newEcho(iwarp.RC, r.a)
	return a, err
}

// bind returns the port of a new socket for datagrams.
func (c *Client) bind(kind iwarp.QPType, address string) (a iwarp.Attachment, err error) {
	if address == "" {
		var b iwarp.Attachment
		if b, c.to, err = c.socket(net.IPv4(127, 0, 0, 1)); err != nil {
			return a, err
		}
		if c.local, err = newEcho(kind, b); err != nil {
			return a, err
		}
	} else {
		server, err := net.ResolveUDPAddr("udp4", address)
		if err != nil {
			return a, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
		}
		at := server.AddrPort()
		if kind == iwarp.RD {
			at = netip.AddrPortFrom(at.Addr(), at.Port()+1)
		}
		c.to = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	any := net.IPv4zero
	if c.to.Addr().IsLoopback() {
		any = net.IPv4(127, 0, 0, 1)
	}
	a, _, err = c.socket(any)
	return a, err
}

func (c *Client) socket(ip net.IP) (a iwarp.Attachment, at netip.AddrPort, err error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: ip})
	if err != nil {
		return a, at, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	c.close = append(c.close, conn.Close)
	_ = conn.SetReadBuffer(socketBuffer) // the kernel may grant less
	port, err := socket.NewDatagram(conn)
	return iwarp.Attachment{Datagram: port}, conn.LocalAddr().(*net.UDPAddr).AddrPort(), err
}

// progress moves data of this end and of a server within this program.
func (c *Client) progress() (bool, error) {
	worked := false
	if c.local != nil {
		var err error
		if worked, err = c.local.progress(); err != nil {
			return false, err
		}
	}
	worked = c.Progress() || worked
	completed, err := c.handle(c.take)
	if err != nil {
		return false, err
	}
	return worked || completed, c.failure()
}

func (c *Client) take(w *iwarp.WC) error {
	switch {
	case w.Status == iwarp.StatusFlushed:
		return nil // failure reports it
	case w.Status != iwarp.StatusSuccess:
		return fmt.Errorf("%w: no reply of %v", ErrFailed, c.to)
	case !w.Receive:
		c.sent++
		return nil
	}
	data := c.slot(w.ID)[:w.Length]
	if w.Opcode == rdmap.Immediate {
		c.tally = binary.BigEndian.Uint64(data)
	} else if c.want != nil && !bytes.Equal(data, c.want[:w.Length]) {
		c.differ = fmt.Errorf("the reply of %d bytes differs from the message", w.Length)
	}
	c.bytes, c.count = c.bytes+w.Length, c.count+1
	return c.receive(w.ID)
}

// await makes progress until the posted sends are complete and replies have arrived. It returns
// false if messages were lost, which only UD does.
func (c *Client) await(ctx context.Context, sent, replies int) (bool, error) {
	limit := 10 * time.Second
	if c.kind == iwarp.UD {
		limit = lossTimeout
	}
	if c.ether != nil {
		return c.simulate(ctx, sent, replies, limit)
	}
	var deadline time.Time
	late := false
	err := drive(ctx, func() (bool, error) {
		worked, err := c.progress()
		switch {
		case worked:
			deadline = time.Time{}
		case deadline.IsZero():
			deadline = time.Now().Add(limit)
		default:
			late = time.Now().After(deadline)
		}
		return worked, err
	}, func() bool { return late || c.sent >= sent && c.count >= replies })
	if err == nil && late && c.kind != iwarp.UD {
		err = fmt.Errorf("%w: no reply for %v", ErrFailed, limit)
	}
	return !late, err
}

// begin starts a round of counting.
func (c *Client) begin() { c.sent, c.count, c.bytes, c.tally = 0, 0, 0, 0 }

// post sends a message, in parts if it is too long for one, and returns their number.
func (c *Client) post(ctx context.Context, opcode rdmap.Opcode, size int) (parts int, err error) {
	for limit := partBytes(c.kind); parts == 0 || size > 0; parts++ {
		n := min(size, limit)
		for {
			err = c.send(opcode, 0, slots, n, c.to)
			if !errors.Is(err, iwarp.ErrQueueFull) {
				break
			}
			if _, err := c.progress(); err != nil {
				return parts, err
			}
			c.pass()
			if ctx.Err() != nil {
				return parts, context.Cause(ctx)
			}
		}
		if err != nil {
			return parts, err
		}
		size -= n
	}
	return parts, nil
}

// fill writes the pattern of messages. The data of all parts begin with the same bytes.
func (c *Client) fill() {
	c.want = c.slot(slots)
	for i := range c.want {
		c.want[i] = byte(i*7 + i>>8)
	}
}

// Ping measures half round trips. The reply of every iteration is compared with the message.
func (c *Client) Ping(ctx context.Context, size, iterations, warmup int) (Row, error) {
	row := Row{QP: c.name, Bytes: size, Iterations: iterations}
	c.fill()
	times := make([]time.Duration, 0, min(iterations, 1<<16))
	for i := range warmup + iterations {
		c.begin()
		begin := c.now()
		parts, err := c.post(ctx, rdmap.SendSE, size)
		if err != nil {
			return row, err
		}
		complete, err := c.await(ctx, parts, parts)
		took := c.now() - begin
		switch {
		case err != nil:
			return row, err
		case c.differ != nil:
			return row, c.differ
		case !complete:
			row.Lost += parts - c.count
		case c.bytes != size:
			return row, fmt.Errorf("the reply has %d bytes, the message %d", c.bytes, size)
		case i >= warmup:
			times = append(times, took)
		}
	}
	if len(times) == 0 {
		return row, fmt.Errorf("%w: all %d messages were lost", drivers.ErrEnvironment, row.Lost)
	}
	slices.Sort(times)
	row.HalfTrip = times[len(times)/2].Seconds() / 2 * 1e6
	row.MinHalfTrip = times[0].Seconds() / 2 * 1e6
	return row, nil
}

// Bandwidth measures windows of messages: the server acknowledges a window or, with both, sends
// every message back. Lost messages do not count.
func (c *Client) Bandwidth(ctx context.Context, size, iterations, window int, both bool) (Row, error) {
	row := Row{QP: c.name, Bytes: size, Iterations: iterations}
	c.fill()
	c.want = nil // comparisons would take part of the time
	window = min(window, MaxWindow/max(1, (size+partBytes(c.kind)-1)/partBytes(c.kind)))
	begin := c.now()
	moved := 0
	for left := iterations; left > 0; {
		n := min(left, window)
		left -= n
		arrived, parts, err := c.window(ctx, size, n, both)
		if err != nil {
			return row, err
		}
		row.Lost += parts - arrived
		moved += arrived * size * n / parts
	}
	if both {
		moved *= 2
	}
	row.Bandwidth = float64(moved) / 1e6 / (c.now() - begin).Seconds()
	return row, nil
}

// window sends n messages and returns how many of their parts the server has received.
func (c *Client) window(ctx context.Context, size, n int, both bool) (arrived, parts int, err error) {
	c.begin()
	opcode := rdmap.Send
	if both {
		opcode = rdmap.SendSE
	}
	for range n {
		p, err := c.post(ctx, opcode, size)
		if err != nil {
			return 0, parts, err
		}
		parts += p // no progress before the window is posted: one call can send several datagrams
	}
	if both {
		_, err = c.await(ctx, parts, parts)
		return c.count, parts, err
	}
	// Over UD the request or its reply may be lost. If the reply was lost, its count is lost, too.
	for attempt := 0; attempt < 3; attempt++ {
		if err := c.send(rdmap.ImmediateSE, 0, slots, rdmap.ImmediateBytes, c.to); err != nil {
			return 0, parts, err
		}
		complete, err := c.await(ctx, parts+attempt+1, 1)
		if complete || err != nil {
			return min(int(c.tally), parts), parts, err
		}
	}
	return 0, parts, nil
}
