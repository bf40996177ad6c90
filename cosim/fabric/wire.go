package fabric

import "math/bits"

// A wire is one way of a link, and what goes wrong on it: rtl/sim/wire_faults.sv. The same seed and
// the same words bring the same faults. A word is looked at in the cycle in which it leaves; it is
// at the other end latency cycles later.
type wire struct {
	WireState
	random  uint64
	origin  uint64 // what is particular to this wire
	orders  fifo[order]
	flight  fifo[flying]
	latency uint64
}

// WireState is what the registers of a wire show.
type WireState struct {
	Errors, Losses uint32 // chances of a word, in 1/2^32
	Seed           uint64
	Down           bool
	Faults         uint64 // words corrupted or lost
}

// A WireRegister is one that can be written.
type WireRegister uint8

// The registers of a wire; the last two are those of the link's end where the wire begins.
const (
	WireErrors WireRegister = iota
	WireLosses
	WireSeed
	WireCtrl
	LinkPatience
	LinkCtrl
)

// The bits of LinkCtrl.
const (
	LinkDrain = 1 << iota // what is for a link that has failed for its patience is discarded
	LinkReset             // the end is reset in this cycle
)

// An order is a register written; the value counts from a cycle on.
type order struct {
	at uint64
	to WireRegister
	v  uint64
}

// A word is one beat on a wire, without payload. Numbers count from the start of the session and
// never wrap. A hello's number is that of its end, its ack the one that it has heard.
type word struct {
	valid, bad            bool
	nack, numbered, flits bool
	hello, up, echoes     bool
	vc                    uint8
	flit                  Flit
	number, ack           uint64
	heads, words          uint64 // of a hello: accepted since the beginning
	freed                 [maxVCs]uint64
}

type flying struct {
	at uint64
	word
}

func newWire(router, link int, latency uint64) wire {
	w := wire{origin: scatter(uint64(router)*8 + uint64(link) + 1), latency: latency}
	w.random = w.origin
	return w
}

// scatter: seeds that differ in one bit, and neighbouring wires, must not walk in step.
func scatter(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31 | 1
}

// xorshift64
func stepped(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

// obey does what was ordered of the wire itself.
func (w *wire) obey(o order) {
	switch o.to {
	case WireErrors:
		w.Errors = uint32(o.v)
	case WireLosses:
		w.Losses = uint32(o.v)
	case WireSeed:
		w.Seed = o.v
		w.random = scatter(o.v ^ w.origin)
	case WireCtrl:
		w.Down = o.v&1 != 0
	}
}

// emit lets the word of a cycle pass the faults. Without carrier it gets no further.
func (w *wire) emit(now uint64, out *word, carrier bool) {
	if !out.valid {
		return
	}
	bad, lost := false, false
	if w.Errors|w.Losses != 0 {
		bad, lost = uint32(w.random) < w.Errors, uint32(w.random>>32) < w.Losses
		w.random = stepped(w.random)
		if bad || lost {
			w.Faults++
		}
	}
	if carrier && !lost {
		f := w.flight.push()
		f.at, f.word = now+w.latency, *out
		f.bad = bad
	}
}

// arrived takes the word that is at the other end in a cycle.
func (w *wire) arrived(now uint64, to *word) {
	to.valid = false
	if w.flight.n > 0 && w.flight.first().at == now {
		*to = w.flight.first().word
		w.flight.drop()
	}
}

// fifo is a queue in a ring that grows to what it needs.
type fifo[T any] struct {
	ring    []T
	head, n int
}

func (q *fifo[T]) first() *T { return &q.ring[q.head] }

func (q *fifo[T]) at(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

func (q *fifo[T]) drop() {
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
}

// push makes room for one more and gives it.
func (q *fifo[T]) push() *T {
	if q.n == len(q.ring) {
		q.reserve(q.n + 1)
	}
	q.n++
	return q.at(q.n - 1)
}

// reserve makes room for at least so many.
func (q *fifo[T]) reserve(most int) {
	if most <= len(q.ring) {
		return
	}
	ring := make([]T, 1<<bits.Len(uint(most-1)))
	for i := range q.n {
		ring[i] = *q.at(i)
	}
	q.ring, q.head = ring, 0
}

func (q *fifo[T]) clear() { q.head, q.n = 0, 0 }
