package datagram

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// faults are probabilities in percent of the simulated network.
type faults struct{ loss, duplicate, reorder, corrupt, notReady int }

// network carries datagrams between endpoints in virtual time.
type network struct {
	r      *rand.Rand
	f      faults
	now    time.Duration
	queue  flights
	count  int
	ends   []*endpoint
	events int
}

type flight struct {
	at       time.Duration
	number   int // breaks ties
	from, to int
	data     []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].number < f[j].number
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any     { x := (*f)[len(*f)-1]; *f = (*f)[:len(*f)-1]; return x }

type endpoint struct {
	*Reliable
	got  map[netip.AddrPort][]string
	done []Done
}

func (e *endpoint) send(to netip.AddrPort, id uint64, parts ...[]byte) error {
	return e.Send(to, id, parts)
}

func address(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 4000)
}

func (n *network) open(i int, epoch uint32) *endpoint {
	e := &endpoint{got: map[netip.AddrPort][]string{}}
	e.Reliable = NewReliable(ReliableConfig{
		Epoch: epoch, Peers: 8, Stored: 20, Timeout: 5 * time.Millisecond, Attempts: 40,
		AckDelay: time.Millisecond, AckEvery: 8,
		Deliver: func(from netip.AddrPort, segment []byte) bool {
			if n.r.IntN(100) < n.f.notReady {
				return false
			}
			e.got[from] = append(e.got[from], string(segment))
			return true
		},
	})
	for len(n.ends) <= i {
		n.ends = append(n.ends, nil)
	}
	n.ends[i] = e
	return e
}

func (n *network) transmit(from int) {
	e := n.ends[from]
	for {
		to, header, parts, ok := e.Next(n.now)
		if !ok {
			return
		}
		data := Seal(append(bytes.Clone(header), bytes.Join(parts, nil)...), 0)
		for copies := 1 + b2i(n.r.IntN(100) < n.f.duplicate); copies > 0; copies-- {
			if n.r.IntN(100) < n.f.loss {
				continue
			}
			at := n.now + 100*time.Microsecond
			if n.r.IntN(100) < n.f.reorder {
				at += time.Duration(n.r.IntN(20)) * 100 * time.Microsecond
			}
			d := bytes.Clone(data)
			if n.r.IntN(100) < n.f.corrupt {
				d[n.r.IntN(len(d))] ^= 1 << n.r.IntN(8)
			}
			n.count++
			heap.Push(&n.queue, flight{at, n.count, from, int(to.Addr().As4()[3]) - 1, d})
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// step advances to the next arrival or timeout.
func (n *network) step() bool {
	next, ok := time.Duration(0), false
	for i, e := range n.ends {
		n.transmit(i)
		if at, has := e.Deadline(); has && (!ok || at < next) {
			next, ok = at, true
		}
	}
	if len(n.queue) > 0 && (!ok || n.queue[0].at <= next) {
		f := heap.Pop(&n.queue).(flight)
		n.now = max(n.now, f.at)
		if data, err := Open(f.data); err == nil {
			_ = n.ends[f.to].Receive(address(f.from), data, n.now)
		}
		ok = true
	} else if ok {
		n.now = max(n.now+time.Microsecond, next)
	}
	for _, e := range n.ends {
		for {
			d, has := e.Poll()
			if !has {
				break
			}
			e.done = append(e.done, d)
		}
	}
	n.events++
	return ok
}

// TestExactlyOnce sends between three endpoints through networks with all kinds of faults. Every
// message must be delivered once and in order, and must complete.
func TestExactlyOnce(t *testing.T) {
	const messages = 150
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 5))
		f := [...]faults{
			{}, {loss: 20}, {duplicate: 20, reorder: 30},
			{loss: 10, duplicate: 10, reorder: 20, corrupt: 5, notReady: 10},
		}[seed%4]
		n := &network{r: r, f: f}
		for i := range 3 {
			n.open(i, uint32(seed))
			for j := range 3 { // begin close to the wrap around of sequence numbers
				if seed&8 != 0 && i != j {
					n.ends[i].peer(address(j)).first = 0xffffffe0
				}
			}
		}
		var sent [3][3]int
		complete := func() bool {
			for _, e := range n.ends {
				if len(e.done) < 2*messages {
					return false
				}
			}
			return true
		}
		for !complete() {
			for i, e := range n.ends {
				j := r.IntN(3)
				if i == j || sent[i][j] == messages || r.IntN(3) > 0 {
					continue
				}
				text := fmt.Sprintf("%d to %d: %d", i, j, sent[i][j])
				err := e.send(address(j), uint64(sent[i][j]), []byte(text[:4]), []byte(text[4:]))
				if err == nil {
					sent[i][j]++
				} else if !errors.Is(err, ErrWindowFull) {
					t.Fatal(err)
				}
			}
			n.step()
			if n.events > 400000 {
				t.Fatalf("seed %d: no progress, sent %v", seed, sent)
			}
		}
		for i, e := range n.ends {
			var completed [3]uint64
			for _, d := range e.done {
				j := d.To.Addr().As4()[3] - 1
				if d.Err != nil || d.ID != completed[j] {
					t.Fatalf("seed %d: completion %+v, expected ID %d", seed, d, completed[j])
				}
				completed[j]++
			}
			for j := range 3 {
				if i == j {
					continue
				}
				got := e.got[address(j)]
				if len(got) != messages {
					t.Fatalf("seed %d: %d of %d messages from %d to %d", seed, len(got), messages, j, i)
				}
				for k, text := range got {
					if want := fmt.Sprintf("%d to %d: %d", j, i, k); text != want {
						t.Fatalf("seed %d: %q, expected %q", seed, text, want)
					}
				}
			}
		}
		if f == (faults{}) {
			for i, e := range n.ends {
				if e.Counters != (Counters{}) {
					t.Errorf("seed %d: end %d without faults: %+v", seed, i, e.Counters)
				}
			}
		}
	}
}

// TestAcknowledgementRate: a stream in one direction needs one acknowledgement per AckEvery
// messages, and traffic in both directions needs hardly any of its own.
func TestAcknowledgementRate(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1))}
	a, b := n.open(0, 1), n.open(1, 1)
	for i := range uint64(16) {
		_ = a.send(address(1), i, []byte("x"), nil)
	}
	for n.step() {
	}
	if n.count != 16+2 || len(b.got[address(0)]) != 16 {
		t.Errorf("%d datagrams for 16 messages, expected 2 acknowledgements", n.count)
	}
	n.count = 0
	_ = a.send(address(1), 0, []byte("ping"), nil)
	for len(b.got[address(0)]) == 16 {
		n.step()
	}
	_ = b.send(address(0), 0, []byte("pong"), nil)
	for n.step() {
	}
	if n.count != 3 || len(a.done) != 17 {
		t.Errorf("%d datagrams for a ping-pong, expected 3", n.count)
	}
}

// TestFastRetransmission: a single loss is repaired after three acknowledgements of later messages,
// long before the timeout.
func TestFastRetransmission(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1))}
	a, b := n.open(0, 1), n.open(1, 1)
	n.f.loss = 100
	_ = a.send(address(1), 0, []byte("first"), nil)
	n.transmit(0)
	n.f.loss = 0
	for i := range uint64(6) {
		_ = a.send(address(1), i+1, []byte("later"), nil)
	}
	for len(b.got[address(0)]) < 7 {
		n.step()
	}
	if n.now > time.Millisecond || b.got[address(0)][0] != "first" || a.Counters.Retransmitted != 1 {
		t.Errorf("repaired after %v, %q, %+v", n.now, b.got[address(0)], a.Counters)
	}
}

func TestUnreachable(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1)), f: faults{loss: 100}}
	a := n.open(0, 1)
	n.open(1, 1)
	for i := range uint64(Window) {
		if err := a.send(address(1), i, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.send(address(1), 99, nil, nil); !errors.Is(err, ErrWindowFull) {
		t.Errorf("message %d: %v", Window+1, err)
	}
	for n.step() {
	}
	if len(a.done) != Window || !errors.Is(a.done[0].Err, ErrUnreachable) {
		t.Errorf("%d completions", len(a.done))
	}
	if err := a.send(address(1), 99, nil, nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("after giving up: %v", err)
	}
}

// TestRestart: a receiver that has started again continues with the messages that its former
// incarnation had not acknowledged, and a sender that has started again begins anew.
func TestRestart(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1))}
	a := n.open(0, 1)
	n.open(1, 1)
	for i := range uint64(10) {
		_ = a.send(address(1), i, []byte("old"), nil)
	}
	for n.step() {
	}
	b := n.open(1, 2)
	for i := range uint64(3) {
		_ = a.send(address(1), i, []byte("new"), nil)
	}
	for n.step() {
	}
	if got := b.got[address(0)]; len(got) != 3 || got[0] != "new" {
		t.Errorf("the new receiver has %q", got)
	}
	stale := append([]byte{kindData, 0, 0, 0}, make([]byte, reliableBytes-4)...)
	binary.BigEndian.PutUint32(stale[4:], 0) // epoch 0, older than 1
	_ = b.Receive(address(0), stale, n.now)
	if b.Counters.Stale != 1 || len(b.got[address(0)]) != 3 {
		t.Errorf("a datagram of an older epoch: %+v", b.Counters)
	}
	a = n.open(0, 2)
	_ = a.send(address(1), 0, []byte("again"), nil)
	for n.step() {
	}
	if got := b.got[address(0)]; len(got) != 4 || got[3] != "again" {
		t.Errorf("from the new sender: %q", got)
	}
}

func TestTooManyPeers(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1))}
	a := n.open(0, 1)
	for i := range 8 {
		if err := a.send(address(i+1), 0, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.send(address(9), 0, nil, nil); !errors.Is(err, ErrTooManyPeer) {
		t.Error(err)
	}
	if err := a.Receive(address(9), append([]byte{kindAck}, make([]byte, 23)...), 0); !errors.Is(err, ErrTooManyPeer) {
		t.Error(err)
	}
}

func TestNoAllocations(t *testing.T) {
	var ends [2]*Reliable
	delivered := 0
	for i := range ends {
		ends[i] = NewReliable(ReliableConfig{
			Epoch: 1, Peers: 2, Stored: 4, Timeout: time.Second, Attempts: 3, AckEvery: 1,
			Deliver: func(netip.AddrPort, []byte) bool { delivered++; return true },
		})
	}
	parts, buffer := [][]byte{make([]byte, 18), make([]byte, 900)}, make([]byte, 0, 2000)
	addresses := [2]netip.AddrPort{address(0), address(1)}
	if n := testing.AllocsPerRun(100, func() {
		_ = ends[0].Send(addresses[1], 1, parts)
		for i := range ends {
			_, h, parts, ok := ends[i].Next(0)
			if !ok {
				t.Fatal("nothing to send")
			}
			buffer = append(buffer[:0], h...)
			for _, p := range parts {
				buffer = append(buffer, p...)
			}
			_ = ends[1-i].Receive(addresses[i], buffer, 0)
		}
		if d, ok := ends[0].Poll(); !ok || d.Err != nil {
			t.Fatal(d, ok)
		}
	}); n != 0 {
		t.Errorf("%v allocations per message", n)
	}
}

// FuzzReceive passes arbitrary datagrams to an endpoint with messages in flight.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{kindData, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 'x'}, []byte{kindAck})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		n := &network{r: rand.New(rand.NewPCG(1, 1))}
		a := n.open(0, 1)
		for i := range uint64(5) {
			_ = a.send(address(1), i, nil, nil)
		}
		for range 5 {
			a.Next(0)
		}
		_ = a.Receive(address(1), first, 1)
		_ = a.Receive(address(1), second, 2)
		for range 10 {
			a.Next(time.Hour)
		}
		for next := uint64(0); ; next++ {
			d, ok := a.Poll()
			if !ok {
				if next > 5 {
					t.Fatalf("%d completions of 5 messages", next)
				}
				return
			}
			if d.ID != next {
				t.Fatalf("completion of %d, expected %d", d.ID, next)
			}
		}
	})
}

// headerOf returns a datagram header with an acknowledgement.
func headerOf(kind, distance byte, epoch, seq, peerEpoch, expected uint32) []byte {
	b := []byte{kind, 1, distance, 0}
	for _, w := range []uint32{epoch, seq, peerEpoch, expected, 0} {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// TestStaleDatagrams: datagrams that were delayed beyond a restart must neither complete messages
// of the new incarnation nor stop a stream.
func TestStaleDatagrams(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1))}
	a := n.open(0, 2)
	_ = a.send(address(1), 0, []byte("x"), nil)
	a.Next(0)
	_ = a.Receive(address(1), headerOf(kindAck, 0, 1, 0, 1, 1), 0)
	if _, ok := a.Poll(); ok {
		t.Error("an acknowledgement for a former incarnation completed a message")
	}
	_ = a.Receive(address(1), headerOf(kindAck, 0, 1, 0, 2, 1), 0)
	if _, ok := a.Poll(); !ok {
		t.Error("an acknowledgement for this incarnation did not complete the message")
	}
	// A new receiver first sees message 3, which was delayed, and then that 57 is the oldest one.
	for _, seq := range []uint32{3, 57} {
		_ = a.Receive(address(2), append(headerOf(kindData, 0, 9, seq, 0, 0), byte(seq)), 0)
	}
	if got := a.got[address(2)]; len(got) != 2 || got[1] != "9" {
		t.Errorf("delivered %q", got)
	}
}

// TestLostAcknowledgement: a repetition shows that an acknowledgement was lost, so the next one
// must not wait for data to ride on.
func TestLostAcknowledgement(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1))}
	a := n.open(0, 1)
	data := headerOf(kindData, 0, 1, 0, 0, 0)
	_ = a.Receive(address(1), data, 0)
	if _, _, _, ok := a.Next(0); ok {
		t.Error("the first acknowledgement did not wait")
	}
	_ = a.Receive(address(1), data, 0)
	if _, header, _, ok := a.Next(0); !ok || header[0] != kindAck {
		t.Error("the repetition was not acknowledged at once")
	}
}

// TestBackoff: the timeout doubles with every repetition.
func TestBackoff(t *testing.T) {
	n := &network{r: rand.New(rand.NewPCG(1, 1)), f: faults{loss: 100}}
	a := n.open(0, 1)
	a.config.Attempts = 5
	_ = a.send(address(1), 0, nil, nil)
	for n.step() {
	}
	if want := 155 * time.Millisecond; n.now < want || n.now > want+time.Millisecond { // 5 (1+2+4+8+16)
		t.Errorf("gave up after %v, expected %v", n.now, want)
	}
}
