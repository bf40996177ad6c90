package match

import (
	"flag"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

var seed = flag.Int64("seed", 1, "seed of random tests")

// naive implements MPI's matching rules literally, on plain lists.
type naive struct {
	posted, unexpected []item
}

type item struct {
	env Envelope
	id  int
}

func (n *naive) arrive(e Envelope, id int) (int, bool) {
	for i, r := range n.posted {
		if r.env.Matches(e) {
			n.posted = append(n.posted[:i:i], n.posted[i+1:]...)
			return r.id, true
		}
	}
	n.unexpected = append(n.unexpected, item{e, id})
	return 0, false
}

func (n *naive) post(p Envelope, id int) (int, bool) {
	for i, m := range n.unexpected {
		if p.Matches(m.env) {
			n.unexpected = append(n.unexpected[:i:i], n.unexpected[i+1:]...)
			return m.id, true
		}
	}
	n.posted = append(n.posted, item{p, id})
	return 0, false
}

func TestAgainstNaive(t *testing.T) {
	for s := *seed; s < *seed+50; s++ {
		rnd := rand.New(rand.NewSource(s))
		const sources = 4
		c, ref := New[int, int](sources), &naive{}
		for id := 1; id < 400; id++ {
			e := Envelope{Source: int32(rnd.Intn(sources)), Tag: int32(rnd.Intn(3)), Comm: uint16(rnd.Intn(2))}
			if rnd.Intn(2) == 0 {
				got, ok := c.Arrive(e, id)
				want, wantOK := ref.arrive(e, id)
				require.Equal(t, wantOK, ok, "reproduce with: go test ./host/match -seed %d", s)
				require.Equal(t, want, got, "reproduce with: go test ./host/match -seed %d", s)
				continue
			}
			if rnd.Intn(3) == 0 {
				e.Source = Any
			}
			if rnd.Intn(3) == 0 {
				e.Tag = Any
			}
			_, seen, found := c.Probe(e)
			_, got, ok := c.Post(e, id)
			want, wantOK := ref.post(e, id)
			require.Equal(t, wantOK, ok, "reproduce with: go test ./host/match -seed %d", s)
			require.Equal(t, want, got, "reproduce with: go test ./host/match -seed %d", s)
			require.Equal(t, ok, found)
			require.Equal(t, got, seen)
		}
		require.Equal(t, len(ref.posted), c.Posted())
		require.Equal(t, len(ref.unexpected), c.Unexpected())
	}
}

// Random operations including Take, Withdraw and Cancel, compared with plain lists.
func TestTakeWithdrawCancel(t *testing.T) {
	for s := *seed; s < *seed+50; s++ {
		rnd := rand.New(rand.NewSource(s))
		const sources = 3
		c, ref := New[int, int](sources), &naive{}
		for id := 1; id < 400; id++ {
			e := Envelope{Source: int32(rnd.Intn(sources)), Tag: int32(rnd.Intn(2))}
			p := e
			if rnd.Intn(2) == 0 {
				p.Source = Any
			}
			switch rnd.Intn(5) {
			case 0, 1:
				c.Arrive(e, id)
				ref.arrive(e, id)
			case 2:
				c.Post(p, id)
				ref.post(p, id)
			case 3:
				_, got, ok := c.Take(p)
				want := 0
				for i, m := range ref.unexpected {
					if p.Matches(m.env) {
						want = m.id
						ref.unexpected = append(ref.unexpected[:i:i], ref.unexpected[i+1:]...)
						break
					}
				}
				require.Equal(t, want != 0, ok, "seed %d", s)
				require.Equal(t, want, got, "seed %d", s)
			case 4:
				victim := 1 + rnd.Intn(id)
				_, ok := c.Withdraw(int(e.Source), func(m int) bool { return m == victim })
				require.Equal(t, remove(&ref.unexpected, func(x item) bool { return x.id == victim && x.env.Source == e.Source }), ok, "seed %d", s)
				ok = c.Cancel(p, func(r int) bool { return r == victim })
				require.Equal(t, remove(&ref.posted, func(x item) bool { return x.id == victim && x.env.Source == p.Source }), ok, "seed %d", s)
			}
			require.Equal(t, len(ref.posted), c.Posted(), "seed %d", s)
			require.Equal(t, len(ref.unexpected), c.Unexpected(), "seed %d", s)
		}
	}
}

func remove(list *[]item, which func(item) bool) bool {
	for i, x := range *list {
		if which(x) {
			*list = append((*list)[:i:i], (*list)[i+1:]...)
			return true
		}
	}
	return false
}

func TestNoAllocationOnceWarm(t *testing.T) {
	c := New[int, int](8)
	round := func() {
		for s := range int32(8) {
			c.Arrive(Envelope{Source: s}, 1)
		}
		for s := range int32(8) {
			if _, _, ok := c.Post(Envelope{Source: s, Tag: Any}, 2); !ok {
				t.Fatal("no match")
			}
		}
	}
	round()
	require.Zero(t, testing.AllocsPerRun(100, round))
}

// Wide tags with masks, compared with plain lists, mixed with 32-bit envelopes in another
// communicator.
func TestWideAgainstNaive(t *testing.T) {
	masks := []uint64{0, ^uint64(0), 1, 1 << 63, 0xffffffff, 0xffffffff << 32, 1<<63 | 1}
	for s := *seed; s < *seed+50; s++ {
		rnd := rand.New(rand.NewSource(s))
		c, ref := New[int, int](3), &naive{}
		for id := 1; id < 400; id++ {
			tag := uint64(rnd.Intn(2))<<63 | uint64(rnd.Intn(2))<<32 | uint64(rnd.Intn(2))<<31 | uint64(rnd.Intn(2))
			if rnd.Intn(8) == 0 {
				tag = 0xffffffff // the lower half equals Any
			}
			e := NewWide(int32(rnd.Intn(3)), 1, tag)
			if rnd.Intn(3) == 0 {
				e = Envelope{Source: e.Source, Tag: int32(rnd.Intn(2))}
			}
			if rnd.Intn(2) == 0 {
				e.Bits = uint64(rnd.Int63()) // data of a message
				got, ok := c.Arrive(e, id)
				want, wantOK := ref.arrive(e, id)
				require.Equal(t, wantOK, ok, "reproduce with: go test ./host/match -seed %d", s)
				require.Equal(t, want, got, "reproduce with: go test ./host/match -seed %d", s)
				continue
			}
			if e.Bits = masks[rnd.Intn(len(masks))]; rnd.Intn(3) == 0 {
				e.Source = Any
			}
			_, got, ok := c.Post(e, id)
			want, wantOK := ref.post(e, id)
			require.Equal(t, wantOK, ok, "reproduce with: go test ./host/match -seed %d", s)
			require.Equal(t, want, got, "reproduce with: go test ./host/match -seed %d", s)
		}
	}
}

func TestWideMatches(t *testing.T) {
	m := NewWide(2, 5, 0x8000_0001_ffff_ffff)
	for _, x := range []struct {
		tag, ignore uint64
		want        bool
	}{
		{0x8000_0001_ffff_ffff, 0, true},
		{0x0000_0001_ffff_ffff, 0, false}, // the lower half agrees
		{0x0000_0001_ffff_ffff, 1 << 63, true},
		{0x8000_0001_0000_0000, 0, false},
		{0x8000_0001_0000_0000, 0xffff_ffff, true},
		{0x8000_0000_ffff_ffff, 0xffff_ffff, false},
		{0, ^uint64(0), true},
	} {
		p := NewWide(Any, 5, x.tag)
		p.Bits = x.ignore
		require.Equal(t, x.want, p.Matches(m), "%x ignoring %x", x.tag, x.ignore)
	}
	p := NewWide(1, 5, 0)
	p.Bits = ^uint64(0)
	require.False(t, p.Matches(m), "another source")
	p.Source, p.Comm = 2, 4
	require.False(t, p.Matches(m), "another communicator")
	require.Equal(t, uint64(0x8000_0001_ffff_ffff), m.WideTag())
}

func BenchmarkNamedAmongMany(b *testing.B) {
	const sources = 1024
	c := New[int, int](sources)
	for s := range int32(sources) {
		c.Post(Envelope{Source: s}, 1)
	}
	b.ReportAllocs()
	for i := range b.N {
		s := int32(i % sources)
		c.Arrive(Envelope{Source: s}, 1)
		c.Post(Envelope{Source: s}, 1)
	}
}
