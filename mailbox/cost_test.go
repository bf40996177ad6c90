package mailbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/mailbox"
)

var flows = map[string]func(mailbox.Config) (mailbox.Flow, error){"static": mailbox.NewStatic, "dynamic": mailbox.NewDynamic}

// pump sends data both ways between two processes and carries all control packets: the whole work
// of both flow controls for count packets each way.
func pump(a, b mailbox.Flow, count int, room bool) {
	for range count {
		forward(a, b, a.Send(1, room), 0)
		forward(b, a, b.Send(0, room), 1)
	}
}

func forward(from, to mailbox.Flow, g mailbox.Grant, sender int) {
	if !g.OK {
		panic("no credit although everything was retrieved")
	}
	carry(from, to, sender)
	retrieve(to, mailbox.Retrieved{From: sender, Piggyback: g.Piggyback, Credits: g.Credits})
	carry(to, from, 1-sender)
}

// retrieve is Retrieve of a packet that the protocol allows.
func retrieve(f mailbox.Flow, r mailbox.Retrieved) {
	if err := f.Retrieve(r); err != nil {
		panic(err)
	}
}

// carry delivers the control packets of one process, and what they cause.
func carry(from, to mailbox.Flow, sender int) {
	var queue [8]mailbox.Control
	n := 0
	for c, ok := from.Next(); ok; c, ok = from.Next() {
		queue[n] = c
		n++
	}
	for _, c := range queue[:n] {
		retrieve(to, mailbox.Retrieved{From: sender, Kind: c.Kind, Credits: c.Credits})
		carry(to, from, 1-sender)
	}
}

func two(tb testing.TB, start func(mailbox.Config) (mailbox.Flow, error), piggyback bool) (a, b mailbox.Flow) {
	c := mailbox.Config{Procs: 2, DataSlots: 14, CreditSlots: 2, Piggyback: piggyback}
	a, err := start(c)
	require.NoError(tb, err)
	c.Self = 1
	b, err = start(c)
	require.NoError(tb, err)
	return a, b
}

func TestNoAllocations(t *testing.T) {
	for name, start := range flows {
		for _, piggyback := range []bool{false, true} {
			a, b := two(t, start, piggyback)
			require.Zero(t, testing.AllocsPerRun(100, func() { pump(a, b, 100, true) }), "%s, piggyback %v", name, piggyback)
			require.Positive(t, a.Stats().CreditPackets+a.Stats().PiggybackedPackets)
		}
	}
	mem := make([]byte, slotBytes)
	h := &hardware{mem: mem}
	h.write(t, mailbox.Header{Piggyback: true}, []byte("payload"), 3)
	r, err := mailbox.NewRing(mem, 1)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if s, ok := r.Peek(); !ok || s.Credits != 3 {
			panic("no packet")
		}
	}))
}

// A steal, a compulsory exchange and the shift of the lists allocate no more than a packet does.
func TestNoAllocationsWhileStealing(t *testing.T) {
	f, err := mailbox.NewDynamic(mailbox.Config{Procs: 3, DataSlots: 24, CreditSlots: 1})
	require.NoError(t, err)
	from := 1
	require.Zero(t, testing.AllocsPerRun(20, func() {
		from = 3 - from
		for range 600 {
			retrieve(f, mailbox.Retrieved{From: from})
			if asked := drain(f); asked >= 0 {
				answer(f, asked)
			}
		}
	}))
	require.NoError(t, f.Check())
	require.Positive(t, f.Stats().Requests)
	require.Positive(t, f.Stats().ListShifts)
}

// drain takes all control packets and returns the peer that a request goes to, or -1.
func drain(f mailbox.Flow) int {
	asked := -1
	for c, ok := f.Next(); ok; c, ok = f.Next() {
		if c.Kind == mailbox.CreditRequest {
			asked = c.To
		}
	}
	return asked
}

// answer plays an idle peer with one static slot: it gives back the credit of the request, and
// returns all its credits but the one that its response takes.
func answer(f mailbox.Flow, peer int) {
	retrieve(f, mailbox.Retrieved{From: peer, Kind: mailbox.Credit, Credits: 1})
	retrieve(f, mailbox.Retrieved{From: peer, Kind: mailbox.CreditResponse, Credits: uint16(f.Granted(peer) - 1)})
	drain(f)
}

// BenchmarkPacket is the work of both flow controls for one data packet: Send, Retrieve, and its
// share of the control packets.
func BenchmarkPacket(b *testing.B) {
	for _, name := range []string{"static", "dynamic"} {
		for _, piggyback := range []bool{false, true} {
			label := name
			if piggyback {
				label += "-piggyback"
			}
			b.Run(label, func(b *testing.B) {
				x, y := two(b, flows[name], piggyback)
				b.ReportAllocs()
				b.ResetTimer()
				pump(x, y, (b.N+1)/2, piggyback)
			})
		}
	}
}

func BenchmarkPeek(b *testing.B) {
	mem := make([]byte, slotBytes)
	if err := mailbox.WriteSlot(mem, mailbox.Header{Length: 40, Seq: 1, Piggyback: true}, make([]byte, 40), 3); err != nil {
		b.Fatal(err)
	}
	r, err := mailbox.NewRing(mem, 1)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.Peek(); !ok {
			b.Fatal("no packet")
		}
	}
}

// BenchmarkRetrieve1024 is what one data packet of one of 1,023 senders costs its
// receiver: the bookkeeping and its share of the control packets made.
func BenchmarkRetrieve1024(b *testing.B) {
	const procs = 1024
	for _, name := range []string{"static", "dynamic"} {
		b.Run(name, func(b *testing.B) {
			f, err := flows[name](mailbox.Config{Procs: procs, DataSlots: 14 * (procs - 1), CreditSlots: 2})
			require.NoError(b, err)
			from := 0
			b.ReportAllocs()
			for b.Loop() {
				if from++; from == procs {
					from = 1
				}
				retrieve(f, mailbox.Retrieved{From: from})
				for c, more := f.Next(); more; c, more = f.Next() {
					if c.Kind == mailbox.CreditRequest {
						b.Fatal("equal senders steal nothing that is in use")
					}
				}
			}
			b.StopTimer()
			if n := testing.AllocsPerRun(1000, func() { retrieve(f, mailbox.Retrieved{From: 1 + from%(procs-1)}); drain(f) }); n != 0 {
				b.Fatalf("%v allocations per packet", n)
			}
		})
	}
}
