package iwarp

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
)

// pipe is one direction of a connection in memory.
type pipe struct {
	data   []byte
	closed bool
}

// pipeEnd is a StreamPort with a small buffer, so that writes are partial.
type pipeEnd struct {
	in, out *pipe
	limit   int
}

func (p *pipeEnd) Read(b []byte) (int, error) {
	n := copy(b, p.in.data)
	p.in.data = p.in.data[:copy(p.in.data, p.in.data[n:])]
	if n == 0 && p.in.closed {
		return 0, io.EOF
	}
	return n, nil
}

func (p *pipeEnd) Write(b []byte) (int, error) {
	n := min(len(b), p.limit-len(p.out.data))
	p.out.data = append(p.out.data, b[:n]...)
	return n, nil
}

func newPipe(limit int) (a, b *pipeEnd) {
	x, y := &pipe{data: make([]byte, 0, limit)}, &pipe{data: make([]byte, 0, limit)}
	return &pipeEnd{x, y, limit}, &pipeEnd{y, x, limit}
}

// ether carries datagrams between sockets, with faults in percent.
type ether struct {
	r                        *rand.Rand
	loss, duplicate, corrupt int
	sockets                  map[netip.AddrPort]*socket
}

type socket struct {
	ether   *ether
	address netip.AddrPort
	queue   []packet
	spare   [][]byte
	busy    bool // refuses to send
	sent    int
}

type packet struct {
	from netip.AddrPort
	data []byte
}

func newEther() *ether {
	return &ether{r: rand.New(rand.NewPCG(1, 7)), sockets: map[netip.AddrPort]*socket{}}
}

func (e *ether) bind(host byte) *socket {
	s := &socket{ether: e, address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, host}), 4791)}
	e.sockets[s.address] = s
	return s
}

func (s *socket) Send(to netip.AddrPort, parts [][]byte) (bool, error) {
	if s.busy {
		return false, nil
	}
	s.sent++
	d := s.ether.sockets[to]
	if d == nil || s.ether.r.IntN(100) < s.ether.loss {
		return true, nil
	}
	for copies := 0; copies < 2; copies++ {
		var data []byte
		if n := len(d.spare); n > 0 {
			data, d.spare = d.spare[n-1][:0], d.spare[:n-1]
		}
		for _, p := range parts {
			data = append(data, p...)
		}
		if s.ether.r.IntN(100) < s.ether.corrupt {
			data[s.ether.r.IntN(len(data))] ^= 0x40
		}
		d.queue = append(d.queue, packet{s.address, data})
		if s.ether.r.IntN(100) >= s.ether.duplicate {
			break
		}
	}
	return true, nil
}

func (s *socket) Receive(b []byte) (int, netip.AddrPort, bool) {
	if len(s.queue) == 0 {
		return 0, netip.AddrPort{}, false
	}
	p := s.queue[0]
	s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	s.spare = append(s.spare, p.data)
	return copy(b, p.data), p.from, true
}

// host is a device with one domain, one completion queue and registered memory.
type host struct {
	*Device
	pd     *PD
	cq     *CQ
	mr     *MR
	memory []byte
	clock  time.Duration
}

func newHost(t testing.TB) *host {
	t.Helper()
	h := &host{memory: make([]byte, 1<<20)}
	h.Device = OpenDevice(func() time.Duration { return h.clock })
	h.pd, h.cq = h.AllocPD(), h.CreateCQ(256)
	var err error
	h.mr, err = h.pd.RegisterMR(h.memory, 0x10000, ddp.LocalWrite|ddp.RemoteRead|ddp.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) qp(t testing.TB, typ QPType, a Attachment) *QP {
	t.Helper()
	q, err := h.pd.CreateQP(h.attributes(typ))
	if err != nil {
		t.Fatal(err)
	}
	toRTS(t, q, a)
	return q
}

func (h *host) attributes(typ QPType) QPAttributes {
	return QPAttributes{
		Type: typ, SendCQ: h.cq, RecvCQ: h.cq, Sends: 16, Receives: 16, IRD: 4, ORD: 4,
		Reliable: ReliableAttributes{
			Epoch: 1, Peers: 16, Stored: 8, Timeout: 5 * time.Millisecond, Attempts: 50, AckEvery: 4,
			AckDelay: time.Millisecond,
		},
	}
}

func toRTS(t testing.TB, q *QP, a Attachment) {
	t.Helper()
	for _, s := range []State{Init, RTR, RTS} {
		if err := q.Modify(s, a); err != nil {
			t.Fatalf("to state %d: %v", s, err)
		}
	}
}

func (h *host) list(offset, length int) []SGE { return []SGE{{h.mr, offset, length}} }

func (h *host) fill(offset int, data []byte) { copy(h.memory[offset:], data) }

// run drives devices until none makes progress and, with time, until no timer is left.
func run(hosts ...*host) {
	for idle := 0; idle < 2000; {
		any := false
		for _, h := range hosts {
			any = h.Progress() || any
		}
		if any {
			idle = 0
			continue
		}
		idle++
		for _, h := range hosts {
			h.clock += 500 * time.Microsecond
		}
	}
}

func (h *host) poll(t testing.TB) WC {
	t.Helper()
	var w [1]WC
	if h.cq.Poll(w[:]) == 0 {
		t.Fatal("no completion")
	}
	return w[0]
}

// connect returns two hosts with an RC queue pair each.
func connect(t testing.TB, markers bool) (a, b *host, qa, qb *QP) {
	t.Helper()
	a, b = newHost(t), newHost(t)
	x, y := newPipe(1000) // shorter than an FPDU, so every write is partial
	p := mpa.Parameters{Revision: 2, CRC: true, SendMarkers: markers, ReceiveMarkers: markers}
	at := func(port StreamPort) Attachment {
		return Attachment{Stream: port, Parameters: p, MULPDU: mpa.ULPDULimit(1460, markers)}
	}
	return a, b, a.qp(t, RC, at(x)), b.qp(t, RC, at(y))
}

func pattern(n int) []byte { return bytes.Repeat([]byte("0123456789abcdefg"), n/17+1)[:n] }
