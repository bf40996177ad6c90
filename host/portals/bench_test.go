package portals

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A bencher is one target whose events are read, as a program would.
type bencher struct {
	n  *NI
	eq EQ
	m  MatchEntry
	p  Packet
	e  Event
}

func newBencher(t testing.TB) *bencher {
	n, err := NewNI(0, Rank(0), 0, DefaultLimits(), make(Flat, 1<<16))
	require.NoError(t, err)
	eq, err := n.EQAlloc(64)
	require.NoError(t, err)
	_, err = n.PTAlloc(0, eq, 0)
	require.NoError(t, err)
	return &bencher{
		n: n, eq: eq, m: MatchEntry{
			Length: 64, UID: UIDAny, MatchID: Rank(RankAny),
			Options: MEOpPut | MEUseOnce | MEEventLinkDisable | MEEventUnlinkDisable,
		},
		p: Packet{Header: Header{Kind: KindPut, Source: Rank(1), Length: 8}, Payload: make([]byte, 8)},
	}
}

func (b *bencher) append(t testing.TB, bits uint64, l List) {
	b.m.MatchBits = bits
	if _, err := b.n.MEAppend(0, &b.m, l); err != nil {
		t.Fatal(err)
	}
}

// message delivers a put and reads its event.
func (b *bencher) message(t testing.TB, bits uint64) {
	b.p.Bits = bits
	if err := b.n.Deliver(&b.p); err != nil {
		t.Fatal(err)
	}
	if err := b.n.EQGet(b.eq, &b.e); err != nil || b.e.Kind != EventPut {
		t.Fatal(err, b.e)
	}
}

// BenchmarkAppendAndMatch is one append and one message that takes it. Target: 150 ns.
func BenchmarkAppendAndMatch(t *testing.B) {
	b := newBencher(t)
	t.ReportAllocs()
	defer reportCPU(t, 1)()
	for t.Loop() {
		b.append(t, 5, PriorityList)
		b.message(t, 5)
	}
}

// reportCPU reports the processor time of an item: on a machine that does other work too, real time
// is that of the others.
func reportCPU(t *testing.B, items int) func() {
	before := cpuTime(t)
	return func() {
		t.ReportMetric(float64((cpuTime(t)-before).Nanoseconds())/float64(t.N)/float64(items), "cpu-ns/item")
	}
}

func cpuTime(t *testing.B) time.Duration {
	var u unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWalk is a message that takes the last of many entries. Target: 3 ns per entry.
func BenchmarkWalk(t *testing.B) {
	for _, count := range []int{16, 256, 4096} {
		t.Run(fmt.Sprint(count), func(t *testing.B) {
			b := newBencher(t)
			for range count {
				b.append(t, 1, PriorityList)
			}
			t.ReportAllocs()
			defer reportCPU(t, count)()
			for t.Loop() {
				b.append(t, 5, PriorityList)
				b.message(t, 5)
			}
		})
	}
}

// BenchmarkUnexpected is a message that arrives first and the append that takes its header.
func BenchmarkUnexpected(t *testing.B) {
	b := newBencher(t)
	b.m.Options = MEOpPut | MEEventLinkDisable
	b.append(t, 5, OverflowList)
	b.m.Options |= MEUseOnce | MEEventUnlinkDisable
	t.ReportAllocs()
	defer reportCPU(t, 1)()
	for t.Loop() {
		b.message(t, 5)
		b.append(t, 5, PriorityList)
		if err := b.n.EQGet(b.eq, &b.e); err != nil || b.e.Kind != EventPutOverflow {
			t.Fatal(err, b.e)
		}
	}
}

// Messages must not allocate: appends, matches, operations with acknowledgements, triggered ones.
func TestMessagesDoNotAllocate(t *testing.T) {
	b := newBencher(t)
	once := func() {
		b.append(t, 5, PriorityList)
		b.message(t, 5)
	}
	for range 100 {
		once()
	}
	require.Zero(t, testing.AllocsPerRun(100, once))

	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	q := Request{
		MD: r.md[1], GetMD: r.md[1], Length: 8, Ack: FullAckReq, Target: r.process(0), MatchBits: 5, Op: OpSum,
		Datatype: UInt64,
	}
	var p Packet
	var e Event
	exchange := func(id uint32, err error) {
		if err != nil || !r.ni[1].Next(&p) || p.Kind != KindGet && r.ni[1].Sent(id) != nil {
			t.Fatal("no request")
		}
		if r.ni[0].Deliver(&p) != nil || !r.ni[0].Next(&p) || r.ni[1].Deliver(&p) != nil {
			t.Fatal("no exchange")
		}
		for r.ni[0].EQGet(r.teq[0], &e) == nil || r.ni[1].EQGet(r.eq[1], &e) == nil {
		}
	}
	all := func() {
		exchange(r.ni[1].Put(&q))
		exchange(r.ni[1].Get(&q))
		exchange(r.ni[1].Atomic(&q))
		exchange(r.ni[1].FetchAtomic(&q))
		v, _ := r.ni[1].CTGet(r.ct[1])
		if r.ni[1].TriggeredCTInc(r.ct[1], Count{Success: 1}, r.ct[1], v.Success) != nil {
			t.Fatal("no trigger")
		}
	}
	for range 100 {
		all()
	}
	require.Zero(t, testing.AllocsPerRun(100, all))
}
