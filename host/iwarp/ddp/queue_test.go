package ddp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

func pieces(r *rand.Rand, size int) Buffer {
	b := Buffer{ID: r.Uint64()}
	for size > 0 {
		n := min(size, 1+r.IntN(300))
		b.Pieces = append(b.Pieces, make([]byte, n))
		size -= n
	}
	return b
}

// TestPlacement sends messages of random lengths as segments in random order, or in order, and
// compares what is delivered. MSN begins near its wrap around for odd seeds.
func TestPlacement(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		order := Order(seed%3 == 0)
		q := NewQueue(12, order)
		if seed&1 != 0 {
			q.first = 0xfffffffa
		}
		start := q.first
		type segment struct {
			h    Header
			data []byte
		}
		var segments []segment
		var sent [][]byte
		for i := range 12 {
			data := make([]byte, r.IntN(1200))
			for j := range data {
				data[j] = byte(r.Uint32())
			}
			sent = append(sent, data)
			if !q.Post(pieces(r, len(data)+r.IntN(2)*50)) {
				t.Fatal("the queue is full")
			}
			s := Segment(Header{MSN: start + uint32(i)}, len(data), UntaggedBytes+1+r.IntN(200))
			for {
				h, from, to, ok := s.Next()
				if !ok {
					break
				}
				segments = append(segments, segment{h, data[from:to]})
			}
		}
		if q.Post(Buffer{}) {
			t.Fatal("13 buffers in a queue of 12")
		}
		if order == AnyOrder {
			r.Shuffle(len(segments), func(i, j int) { segments[i], segments[j] = segments[j], segments[i] })
		}
		got := 0
		for _, s := range segments {
			if err := q.Place(s.h, s.data); err != nil {
				t.Fatalf("seed %d: %+v: %v", seed, s.h, err)
			}
			if err := q.Place(s.h, s.data); err == nil {
				t.Fatalf("seed %d: %+v was accepted twice", seed, s.h)
			}
			for {
				m, ok := q.Deliver()
				if !ok {
					break
				}
				if m.Header.MSN != start+uint32(got) || !bytes.Equal(bytes.Join(m.Buffer.Pieces, nil)[:m.Length], sent[got]) {
					t.Fatalf("seed %d: message %d differs: %+v", seed, got, m.Header)
				}
				got++
			}
		}
		if got != len(sent) || q.Posted() != 0 {
			t.Errorf("seed %d: %d of %d messages delivered, %d buffers left", seed, got, len(sent), q.Posted())
		}
	}
}

// TestQueueErrors: RFC 5041, section 7.2, error type 2. After every refused segment the message is
// completed, to show that the refusal changed nothing.
func TestQueueErrors(t *testing.T) {
	seg := func(msn, mo uint32, last bool) Header { return Header{MSN: msn, MO: mo, Last: last} }
	type step struct {
		h      Header
		length int
	}
	for _, c := range []struct {
		name   string
		order  Order
		before []step
		bad    step
		want   error
	}{
		{"in order: MSN of the next message", InOrder, nil, step{seg(2, 0, true), 1}, term.UntaggedMSNRange},
		{"in order: MSN 0", InOrder, nil, step{seg(0, 0, true), 1}, term.UntaggedMSNRange},
		{"in order: gap", InOrder, nil, step{seg(1, 4, false), 4}, term.UntaggedInvalidMO},
		{"in order: repetition", InOrder, []step{{seg(1, 0, false), 4}}, step{seg(1, 0, false), 4}, term.UntaggedInvalidMO},
		{"any order: MSN without a buffer", AnyOrder, nil, step{seg(3, 0, true), 1}, term.UntaggedNoBuffer},
		{"any order: old MSN", AnyOrder, nil, step{seg(0, 0, true), 1}, term.UntaggedMSNRange},
		{"any order: message that is complete",
			AnyOrder, []step{{seg(2, 0, true), 0}}, step{seg(2, 0, true), 0}, term.UntaggedMSNRange},
		{"overlap", AnyOrder, []step{{seg(1, 2, false), 4}}, step{seg(1, 5, false), 2}, term.UntaggedInvalidMO},
		{"beyond the last segment",
			AnyOrder, []step{{seg(1, 4, true), 2}}, step{seg(1, 6, false), 1}, term.UntaggedInvalidMO},
		{"second last segment", AnyOrder, []step{{seg(1, 4, true), 2}}, step{seg(1, 0, true), 2}, term.UntaggedInvalidMO},
		{"last segment before placed bytes",
			AnyOrder, []step{{seg(1, 4, false), 2}}, step{seg(1, 0, true), 2}, term.UntaggedInvalidMO},
		{"MO wraps around", AnyOrder, nil, step{seg(1, 0xffffffff, true), 2}, term.UntaggedInvalidMO},
		{"message too long", InOrder, nil, step{seg(1, 0, true), 9}, term.UntaggedMessageLarge},
		{"second segment too long",
			InOrder, []step{{seg(1, 0, false), 8}}, step{seg(1, 8, true), 1}, term.UntaggedMessageLarge},
	} {
		q := NewQueue(2, c.order)
		for range 2 {
			q.Post(Buffer{Pieces: [][]byte{make([]byte, 8)}})
		}
		for _, s := range c.before {
			if err := q.Place(s.h, make([]byte, s.length)); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if err := q.Place(c.bad.h, make([]byte, c.bad.length)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, err, c.want)
		}
	}
	q := NewQueue(1, InOrder)
	if err := q.Place(seg(1, 0, true), nil); !errors.Is(err, term.UntaggedNoBuffer) {
		t.Errorf("no buffer posted: %v", err)
	}
	q.Post(Buffer{Pieces: [][]byte{make([]byte, 8)}})
	if err := q.Place(Header{MSN: 1, Control: 0x43}, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	if err := q.Place(Header{MSN: 1, MO: 2, Control: 0x45}, nil); !errors.Is(err, term.UnexpectedOpcode) {
		t.Errorf("RFC 5040, section 4.1: the opcode changes within a message: %v", err)
	}
}

func TestFlush(t *testing.T) {
	q := NewQueue(3, AnyOrder)
	for i := range uint64(3) {
		q.Post(Buffer{ID: i})
	}
	if err := q.Place(Header{MSN: 2, Last: true}, nil); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if b, ok := q.Flush(); !ok || b.ID != i {
			t.Errorf("flushed %d, %t; expected %d", b.ID, ok, i)
		}
	}
	if _, ok := q.Flush(); ok {
		t.Error("flushed more buffers than were posted")
	}
	if _, ok := q.Deliver(); ok {
		t.Error("delivered a flushed message")
	}
}

// TestMemory: the order of the checks, bounds at both ends, and the reuse of an STag.
func TestMemory(t *testing.T) {
	var m Table
	data := make([]byte, 100)
	stag, ok := m.Register(7, RemoteWrite, 0xffffffffffffff00, data)
	if !ok || stag>>8 == 0 {
		t.Fatalf("STag %#x, %t", stag, ok)
	}
	const base = uint64(0xffffffffffffff00)
	for _, c := range []struct {
		name   string
		stag   uint32
		domain uint32
		to     uint64
		length int
		rights Rights
		want   Violation
	}{
		{"all", stag, 7, base, 100, RemoteWrite, Allowed},
		{"last byte", stag, 7, base + 99, 1, RemoteWrite, Allowed},
		{"nothing at the end", stag, 7, base + 100, 0, RemoteWrite, Allowed},
		{"key", stag + 1, 7, base, 1, RemoteWrite, InvalidSTag},
		{"index", stag + 256, 7, base, 1, RemoteWrite, InvalidSTag},
		{"STag 0", 0, 7, base, 1, RemoteWrite, InvalidSTag},
		{"domain", stag, 8, base, 1, RemoteWrite, NotAssociated},
		{"below", stag, 7, base - 1, 1, RemoteWrite, OutOfBounds},
		{"above", stag, 7, base + 100, 1, RemoteWrite, OutOfBounds},
		{"across the end", stag, 7, base + 99, 2, RemoteWrite, OutOfBounds},
		{"wrap around", stag, 7, base + 0xf0, 0x20, RemoteWrite, Wraps},
		{"right", stag, 7, base, 1, RemoteRead, NoRight},
	} {
		b, v := m.Access(c.stag, c.domain, c.to, c.length, c.rights)
		if v != c.want || v == Allowed && len(b) != c.length {
			t.Errorf("%s: %d bytes, violation %d, expected %d", c.name, len(b), v, c.want)
		}
	}
	if _, ok := m.Register(7, 0, base, make([]byte, 0x101)); ok {
		t.Error("a region that wraps around was registered")
	}
	local, _ := m.Register(7, LocalWrite, 0, data)
	for _, c := range []struct {
		stag, domain uint32
		want         Violation
	}{{stag, 8, NotAssociated}, {local, 7, NoRight}, {stag, 7, Allowed}, {stag, 7, InvalidSTag}} {
		if v := m.Invalidate(c.stag, c.domain, true); v != c.want {
			t.Errorf("invalidate %#x: %d, expected %d", c.stag, v, c.want)
		}
	}
	again, _ := m.Register(7, RemoteWrite, 0, data)
	if again>>8 != stag>>8 || again == stag {
		t.Errorf("STag %#x after %#x: expected the same index with another key", again, stag)
	}
	if _, v := m.Access(stag, 7, base, 1, RemoteWrite); v != InvalidSTag {
		t.Errorf("the old STag is usable after its index was reused: %d", v)
	}
}

func TestNoAllocations(t *testing.T) {
	q := NewQueue(4, AnyOrder)
	b := Buffer{Pieces: [][]byte{make([]byte, 500), make([]byte, 500)}}
	data, header := make([]byte, 1000), make([]byte, 0, UntaggedBytes)
	msn := uint32(0)
	if n := testing.AllocsPerRun(200, func() {
		msn++
		q.Post(b)
		s := Segment(Header{MSN: msn}, len(data), 218)
		for {
			h, from, to, ok := s.Next()
			if !ok {
				break
			}
			header = h.Append(header[:0])
			p, _, err := Parse(header)
			if err != nil || q.Place(p, data[from:to]) != nil {
				t.Fatal("segment refused")
			}
		}
		if _, ok := q.Deliver(); !ok {
			t.Fatal("nothing delivered")
		}
	}); n != 0 {
		t.Errorf("%v allocations per message", n)
	}
}

// FuzzQueue places arbitrary segments and compares with bytes that are marked one by one.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{1, 0, 4, 0, 1, 4, 4, 1}, false)
	f.Add([]byte{2, 0, 4, 1, 1, 0, 9, 0}, true)
	f.Fuzz(func(t *testing.T, b []byte, inOrder bool) {
		q := NewQueue(4, Order(inOrder))
		for range 3 {
			q.Post(Buffer{Pieces: [][]byte{make([]byte, 10), make([]byte, 22)}})
		}
		var filled [5][64]bool
		var end [5]int
		delivered := 0
		for ; len(b) >= 4; b = b[4:] {
			h := Header{MSN: uint32(b[0] % 6), MO: uint32(b[1] % 40), Last: b[3]&1 != 0}
			n := int(b[2] % 20)
			if q.Place(h, make([]byte, n)) != nil {
				continue
			}
			for i := int(h.MO); i < int(h.MO)+n; i++ {
				if filled[h.MSN][i] {
					t.Fatalf("byte %d of message %d was placed twice", i, h.MSN)
				}
				filled[h.MSN][i] = true
			}
			if h.Last {
				end[h.MSN] = int(h.MO) + n
			}
			for {
				m, ok := q.Deliver()
				if !ok {
					break
				}
				delivered++
				if int(m.Header.MSN) != delivered || m.Length != end[delivered] {
					t.Fatalf("delivered %+v of %d bytes, expected MSN %d, %d bytes", m.Header, m.Length, delivered, end[delivered])
				}
				for i := range 64 {
					if filled[delivered][i] != (i < m.Length) {
						t.Fatalf("message %d of %d bytes: byte %d", delivered, m.Length, i)
					}
				}
			}
		}
	})
}
