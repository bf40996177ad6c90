package fabric

import "math/bits"

// A wire is one direction of a link with its faults: rtl/sim/wire_faults.sv. The same seed and the
// same words give the same faults. A word is evaluated in the cycle in which it leaves, and arrives
// latency cycles later.
type wire struct {
	WireState
	random  uint64
	origin  uint64 // distinguishes this wire
	orders  fifo[order]
	flight  fifo[flying]
	latency uint64
}

// WireState is the contents of the registers of a wire.
type WireState struct {
	Errors, Losses uint32 // probabilities per word, in 1/2^32
	Seed           uint64
	Down           bool
	Faults         uint64 // words corrupted or lost
}

// A WireRegister is a writable register.
type WireRegister uint8

// The registers of a wire; the last two belong to the link's end where the wire begins.
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
	LinkDrain = 1 << iota // discard packets for a link that has failed for its patience
	LinkReset             // reset the end in this cycle
)

// An order is a register write that takes effect in a given cycle.
type order struct {
	at uint64
	to WireRegister
	v  uint64
}

// A word is one beat on a wire, without payload. Numbers count from the start of the session and
// never wrap. In a hello, number is that of its end and ack the last one received.
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

// scatter decorrelates seeds that differ in one bit, and adjacent wires.
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

// obey executes a register write of the wire itself.
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

// emit applies the faults to the word of a cycle. Without carrier the word is lost.
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

// arrived returns the word that arrives at the other end in a cycle.
func (w *wire) arrived(now uint64, to *word) {
	to.valid = false
	if w.flight.n > 0 && w.flight.first().at == now {
		*to = w.flight.first().word
		w.flight.drop()
	}
}

// fifo is a queue in a ring that grows as needed.
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

// push adds an element and returns it.
func (q *fifo[T]) push() *T {
	if q.n == len(q.ring) {
		q.reserve(q.n + 1)
	}
	q.n++
	return q.at(q.n - 1)
}

// reserve ensures a minimum capacity.
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
