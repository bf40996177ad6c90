package socket

import (
	"bytes"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

type node struct {
	*iwarp.Device
	pd     *iwarp.PD
	cq     *iwarp.CQ
	mr     *iwarp.MR
	memory []byte
	qp     *iwarp.QP
}

func newNode(t testing.TB, typ iwarp.QPType, a iwarp.Attachment) *node {
	t.Helper()
	begin := time.Now()
	n := &node{Device: iwarp.OpenDevice(func() time.Duration { return time.Since(begin) }), memory: make([]byte, 1<<20)}
	n.pd, n.cq = n.AllocPD(), n.CreateCQ(64)
	var err error
	if n.mr, err = n.pd.RegisterMR(n.memory, 0, ddp.LocalWrite|ddp.RemoteRead|ddp.RemoteWrite); err != nil {
		t.Fatal(err)
	}
	n.qp, err = n.pd.CreateQP(iwarp.QPAttributes{
		Type: typ, SendCQ: n.cq, RecvCQ: n.cq, Sends: 16, Receives: 16, IRD: 4, ORD: 4,
		Reliable: iwarp.ReliableAttributes{
			Epoch: 1, Peers: 4, Stored: 8, Timeout: 50 * time.Millisecond, Attempts: 20, AckEvery: 8, AckDelay: time.Millisecond,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []iwarp.State{iwarp.Init, iwarp.RTR, iwarp.RTS} {
		if err := n.qp.Modify(s, a); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func admitAll([]byte) error { return nil }

// connect returns two nodes over a loopback connection.
func connect(t testing.TB, o mpa.Options) (a, b *node) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan iwarp.Attachment, 1)
	go func() {
		defer close(accepted)
		c, err := l.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { c.Close() })
		if x, err := Accept(c.(*net.TCPConn), o, 5*time.Second, admitAll); err == nil {
			accepted <- x
		}
	}()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	x, err := Connect(c.(*net.TCPConn), o, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	y, ok := <-accepted
	if !ok {
		t.Fatal("the responder failed")
	}
	return newNode(t, iwarp.RC, x), newNode(t, iwarp.RC, y)
}

func bind(t testing.TB, typ iwarp.QPType) (*node, netip.AddrPort) {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	d, err := NewDatagram(c)
	if err != nil {
		t.Fatal(err)
	}
	return newNode(t, typ, iwarp.Attachment{Datagram: d}), c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// await drives both nodes until one has a completion.
func await(t testing.TB, n *node, others ...*node) iwarp.WC {
	t.Helper()
	var w [1]iwarp.WC
	for begin := time.Now(); n.cq.Poll(w[:]) == 0; {
		n.Progress()
		for _, o := range others {
			o.Progress()
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatal("no completion")
		}
	}
	if w[0].Status != iwarp.StatusSuccess {
		t.Fatalf("%+v", w[0])
	}
	return w[0]
}

func TestTCP(t *testing.T) {
	for _, o := range []mpa.Options{
		{Revision: 1}, {Revision: 1, CRC: true, Markers: true}, {Revision: 2, Enhanced: true, CRC: true, IRD: 2, ORD: 2},
	} {
		a, b := connect(t, o)
		copy(a.memory, bytes.Repeat([]byte("iwarp"), 40_000))
		list := []iwarp.SGE{{MR: a.mr, Length: 200_000}}
		if err := a.qp.PostSend(iwarp.Work{Opcode: rdmap.Write, List: list, RemoteSTag: b.mr.STag()}); err != nil {
			t.Fatal(err)
		}
		await(t, a, b)
		list[0].Offset = 300_000
		if err := a.qp.PostSend(iwarp.Work{Opcode: rdmap.ReadRequest, List: list, RemoteSTag: b.mr.STag()}); err != nil {
			t.Fatal(err)
		}
		await(t, a, b)
		if !bytes.Equal(a.memory[:200_000], a.memory[300_000:500_000]) {
			t.Errorf("%+v: the data differ", o)
		}
	}
}

func TestUDP(t *testing.T) {
	for _, typ := range []iwarp.QPType{iwarp.UD, iwarp.RD} {
		a, from := bind(t, typ)
		b, to := bind(t, typ)
		copy(a.memory, bytes.Repeat([]byte("iwarp"), 10_000))
		if err := b.qp.PostReceive(1, []iwarp.SGE{{MR: b.mr, Length: 60_000}}); err != nil {
			t.Fatal(err)
		}
		list := []iwarp.SGE{{MR: a.mr, Length: 10}, {MR: a.mr, Offset: 10, Length: 49_990}}
		if err := a.qp.PostSend(iwarp.Work{Opcode: rdmap.Send, To: to, List: list}); err != nil {
			t.Fatal(err)
		}
		w := await(t, b, a)
		await(t, a, b)
		if w.Source != from || w.Length != 50_000 || !bytes.Equal(a.memory[:50_000], b.memory[:50_000]) {
			t.Errorf("type %d: %+v, expected source %v", typ, w, from)
		}
	}
}

// BenchmarkPingPong compares the types of queue pairs; both ends run on one core.
func BenchmarkPingPong(b *testing.B) {
	for _, size := range []int{8, 2048, 32768} {
		ra, rb := connect(b, mpa.Options{Revision: 1, CRC: true})
		ua, uaAddress := bind(b, iwarp.UD)
		ub, ubAddress := bind(b, iwarp.UD)
		for _, c := range []struct {
			name string
			a, c *node
			x, y netip.AddrPort
		}{{"RC", ra, rb, netip.AddrPort{}, netip.AddrPort{}}, {"UD", ua, ub, uaAddress, ubAddress}} {
			b.Run(c.name+"/"+strconv.Itoa(size), func(b *testing.B) {
				b.ReportAllocs()
				la, lc := []iwarp.SGE{{MR: c.a.mr, Length: size}}, []iwarp.SGE{{MR: c.c.mr, Length: size}}
				half := func(p, q *node, to netip.AddrPort, lp, lq []iwarp.SGE) {
					if q.qp.PostReceive(0, lq) != nil || p.qp.PostSend(iwarp.Work{Opcode: rdmap.Send, To: to, List: lp}) != nil {
						b.Fatal("post")
					}
					await(b, p)
					await(b, q, p)
				}
				for b.Loop() {
					half(c.a, c.c, c.y, la, lc)
					half(c.c, c.a, c.x, lc, la)
				}
			})
		}
	}
}

func TestNoAllocations(t *testing.T) {
	ra, rb := connect(t, mpa.Options{Revision: 1, CRC: true})
	ua, _ := bind(t, iwarp.UD)
	ub, to := bind(t, iwarp.UD)
	for _, c := range []struct {
		name string
		a, b *node
		to   netip.AddrPort
	}{{"RC", ra, rb, netip.AddrPort{}}, {"UD", ua, ub, to}} {
		from, into := []iwarp.SGE{{MR: c.a.mr, Length: 900}}, []iwarp.SGE{{MR: c.b.mr, Length: 900}}
		if n := testing.AllocsPerRun(50, func() {
			if c.b.qp.PostReceive(0, into) != nil ||
				c.a.qp.PostSend(iwarp.Work{Opcode: rdmap.Send, To: c.to, List: from}) != nil {
				t.Fatal("post")
			}
			await(t, c.a)
			await(t, c.b, c.a)
		}); n >= 1 {
			t.Errorf("%s: %v allocations per message", c.name, n)
		}
	}
}
