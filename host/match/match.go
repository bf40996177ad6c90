package match

import (
	"errors"
	"fmt"
)

// ErrCancelled: a send or a receive was cancelled before it matched.
var ErrCancelled = errors.New("cancelled")

// Any leaves the source or the tag of a receive open.
const Any = -1

// An Envelope is what a message is matched by; a pattern is an Envelope whose
// Source or Tag may be Any.
type Envelope struct {
	Source, Tag int32
	Comm        uint16
	// Wide envelopes have tags of 64 bits: High is the upper half, and a Tag of Any is an ordinary
	// lower half. A communicator has either wide envelopes or none.
	Wide bool
	High uint32
	// Bits of a wide pattern are the bits of the tag that are not compared. Those of a wide message
	// travel with it as data of the sender and are not compared either. (One field for both: the size
	// of an envelope decides how fast the queues are.)
	Bits uint64
}

// NewWide makes an envelope whose tag has 64 bits.
func NewWide(source int32, comm uint16, tag uint64) Envelope {
	return Envelope{Source: source, Comm: comm, Wide: true, Tag: int32(tag), High: uint32(tag >> 32)}
}

// WideTag is the tag of a wide envelope.
func (e Envelope) WideTag() uint64 { return uint64(e.High)<<32 | uint64(uint32(e.Tag)) }

// Matches tells whether a message with envelope e fits the pattern p.
func (p Envelope) Matches(e Envelope) bool { return p.matches(&e) }

func (p *Envelope) matches(e *Envelope) bool {
	if p.Comm != e.Comm || p.Source != Any && p.Source != e.Source {
		return false
	}
	return p.Tag == e.Tag && p.High == e.High || p.Wide && p.matchesWide(e) || !p.Wide && p.Tag == Any
}

func (p *Envelope) matchesWide(e *Envelope) bool { return (p.WideTag()^e.WideTag())&^p.Bits == 0 }

// A Core holds posted receives and unexpected messages of one rank. Both carry
// a value of the caller's: R for receives, M for messages.
type Core[R, M any] struct {
	posted     queues[R] // by source; receives from anybody in the last queue
	unexpected queues[M] // by source; every message also in order of age
}

// New makes a core for messages from sources ranks.
func New[R, M any](sources int) *Core[R, M] {
	return &Core[R, M]{posted: newQueues[R](sources + 1), unexpected: newQueues[M](sources)}
}

// Arrive gives the oldest posted receive that the message fits, or keeps the
// message.
func (c *Core[R, M]) Arrive(e Envelope, m M) (r R, ok bool) {
	named := c.posted.first(int(e.Source), &e)
	open := c.posted.first(len(c.posted.heads)-1, &e)
	if at := c.posted.older(named, open); at != nobody {
		return c.posted.take(at), true
	}
	c.unexpected.add(int(e.Source), e, m)
	return r, false
}

// Post gives the oldest unexpected message that fits the receive, or keeps the
// receive.
func (c *Core[R, M]) Post(p Envelope, r R) (e Envelope, m M, ok bool) {
	if at := c.find(&p); at != nobody {
		e = c.unexpected.at(at).env
		return e, c.unexpected.take(at), true
	}
	q := int(p.Source)
	if p.Source == Any {
		q = len(c.posted.heads) - 1
	}
	c.posted.add(q, p, r)
	return e, m, false
}

// Fitting is how many posted receives a message with that envelope fits.
func (c *Core[R, M]) Fitting(e Envelope) (n int) {
	for _, q := range [...]int{int(e.Source), len(c.posted.heads) - 1} {
		for at := c.posted.heads[q]; at != nobody; at = c.posted.at(at).next {
			if c.posted.at(at).env.matches(&e) {
				n++
			}
		}
	}
	return n
}

// Probe gives the message that Post would give, and leaves it where it is.
func (c *Core[R, M]) Probe(p Envelope) (e Envelope, m M, ok bool) {
	at := c.find(&p)
	if at == nobody {
		return e, m, false
	}
	n := c.unexpected.at(at)
	return n.env, n.value, true
}

// Take gives the message that Post would give and keeps it for its caller; nothing is posted.
func (c *Core[R, M]) Take(p Envelope) (e Envelope, m M, ok bool) {
	at := c.find(&p)
	if at == nobody {
		return e, m, false
	}
	e = c.unexpected.at(at).env
	return e, c.unexpected.take(at), true
}

// Withdraw takes the oldest unexpected message of a source that is the one meant.
func (c *Core[R, M]) Withdraw(source int, meant func(M) bool) (m M, ok bool) {
	for at := c.unexpected.heads[source]; at != nobody; at = c.unexpected.at(at).next {
		if meant(c.unexpected.at(at).value) {
			return c.unexpected.take(at), true
		}
	}
	return m, false
}

// Cancel takes back a posted receive that no message has matched.
func (c *Core[R, M]) Cancel(p Envelope, meant func(R) bool) bool {
	q := int(p.Source)
	if p.Source == Any {
		q = len(c.posted.heads) - 1
	}
	for at := c.posted.heads[q]; at != nobody; at = c.posted.at(at).next {
		if meant(c.posted.at(at).value) {
			c.posted.take(at)
			return true
		}
	}
	return false
}

// Posted and Unexpected are the numbers of receives and messages kept.
func (c *Core[R, M]) Posted() int     { return c.posted.count }
func (c *Core[R, M]) Unexpected() int { return c.unexpected.count }

func (c *Core[R, M]) find(p *Envelope) int32 {
	if p.Source != Any {
		return c.unexpected.firstFor(int(p.Source), p)
	}
	for at := c.unexpected.oldest; at != nobody; at = c.unexpected.at(at).younger {
		if p.matches(&c.unexpected.at(at).env) {
			return at
		}
	}
	return nobody
}

// queues are FIFOs over nodes that have numbers, with one list of all by age. Nodes are made in
// lots and never move: a rank of a large world has a thousand messages that nobody has asked for,
// and a list that grows by copying would leave several times as much behind.
type queues[V any] struct {
	lots         []*[lot]node[V]
	made         int32
	free         int32
	heads, tails []int32
	oldest, last int32
	age          uint64
	count        int
}

type node[V any] struct {
	env            Envelope
	value          V
	age            uint64
	queue          int32
	next, prev     int32 // in its queue
	younger, elder int32 // among all
}

const nobody = -1

const (
	lotBits = 5
	lot     = 1 << lotBits
)

func (q *queues[V]) at(i int32) *node[V] { return &q.lots[i>>lotBits][i&(lot-1)] }

func newQueues[V any](n int) queues[V] {
	q := queues[V]{free: nobody, oldest: nobody, last: nobody, heads: make([]int32, n), tails: make([]int32, n)}
	for i := range n {
		q.heads[i], q.tails[i] = nobody, nobody
	}
	return q
}

func (q *queues[V]) add(queue int, e Envelope, v V) {
	at := q.free
	if at == nobody {
		if q.made&(lot-1) == 0 {
			q.lots = append(q.lots, new([lot]node[V]))
		}
		at = q.made
		q.made++
	} else {
		q.free = q.at(at).next
	}
	q.age++
	q.count++
	*q.at(at) = node[V]{env: e, value: v, age: q.age, queue: int32(queue), next: nobody, prev: q.tails[queue], younger: nobody, elder: q.last}
	if t := q.tails[queue]; t == nobody {
		q.heads[queue] = at
	} else {
		q.at(t).next = at
	}
	q.tails[queue] = at
	if q.last == nobody {
		q.oldest = at
	} else {
		q.at(q.last).younger = at
	}
	q.last = at
}

// take removes a node and gives its value.
func (q *queues[V]) take(at int32) V {
	n := q.at(at)
	q.unlinkFromQueue(n)
	q.unlinkByAge(n)
	v := n.value
	var none V
	n.value, n.next = none, q.free
	q.free = at
	q.count--
	return v
}

func (q *queues[V]) unlinkFromQueue(n *node[V]) {
	if n.prev == nobody {
		q.heads[n.queue] = n.next
	} else {
		q.at(n.prev).next = n.next
	}
	if n.next == nobody {
		q.tails[n.queue] = n.prev
	} else {
		q.at(n.next).prev = n.prev
	}
}

func (q *queues[V]) unlinkByAge(n *node[V]) {
	if n.elder == nobody {
		q.oldest = n.younger
	} else {
		q.at(n.elder).younger = n.younger
	}
	if n.younger == nobody {
		q.last = n.elder
	} else {
		q.at(n.younger).elder = n.elder
	}
}

// first is the oldest node of a queue whose pattern fits the message e.
func (q *queues[V]) first(queue int, e *Envelope) int32 {
	if queue < 0 || queue >= len(q.heads) {
		panic(fmt.Sprintf("match: source %d, expected 0 to %d", queue, len(q.heads)-1))
	}
	for at := q.heads[queue]; at != nobody; at = q.at(at).next {
		if q.at(at).env.matches(e) {
			return at
		}
	}
	return nobody
}

// firstFor is the oldest node of a queue whose message fits the pattern p.
func (q *queues[V]) firstFor(queue int, p *Envelope) int32 {
	for at := q.heads[queue]; at != nobody; at = q.at(at).next {
		if p.matches(&q.at(at).env) {
			return at
		}
	}
	return nobody
}

func (q *queues[V]) older(a, b int32) int32 {
	if a == nobody || b != nobody && q.at(b).age < q.at(a).age {
		return b
	}
	return a
}
