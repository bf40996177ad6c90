package match

import (
	"errors"
	"fmt"
)

// ErrCancelled reports that a send or a receive was cancelled before it matched.
var ErrCancelled = errors.New("cancelled")

// Any is the wildcard for source or tag of a receive.
const Any = -1

// An Envelope holds the matching fields of a message. The envelope of a receive, a pattern, may use
// Any as Source or Tag.
type Envelope struct {
	Source, Tag int32
	Comm        uint16
	// Wide envelopes have 64-bit tags: High is the upper half. In a wide pattern, a Tag of Any is
	// an ordinary lower half. A communicator uses either wide envelopes only or none.
	Wide bool
	High uint32
	// Bits masks tag bits of a wide pattern: set bits are not compared. In a wide message the field
	// carries data of the sender, which is not compared. One field serves both because the size of
	// an envelope determines the speed of the queues.
	Bits uint64
}

// NewWide returns an envelope with a 64-bit tag.
func NewWide(source int32, comm uint16, tag uint64) Envelope {
	return Envelope{Source: source, Comm: comm, Wide: true, Tag: int32(tag), High: uint32(tag >> 32)}
}

// WideTag returns the tag of a wide envelope.
func (e Envelope) WideTag() uint64 { return uint64(e.High)<<32 | uint64(uint32(e.Tag)) }

// Matches reports whether a message with envelope e matches the pattern p.
func (p Envelope) Matches(e Envelope) bool { return p.matches(&e) }

func (p *Envelope) matches(e *Envelope) bool {
	if p.Comm != e.Comm || p.Source != Any && p.Source != e.Source {
		return false
	}
	return p.Tag == e.Tag && p.High == e.High || p.Wide && p.matchesWide(e) || !p.Wide && p.Tag == Any
}

func (p *Envelope) matchesWide(e *Envelope) bool { return (p.WideTag()^e.WideTag())&^p.Bits == 0 }

// A Core holds the posted receives (values of type R) and unexpected messages (type M) of one rank.
type Core[R, M any] struct {
	posted     queues[R] // by source; the last queue holds receives with a wildcard source
	unexpected queues[M] // by source, and all messages linked in order of age
}

// New creates a core for messages of the given number of source ranks.
func New[R, M any](sources int) *Core[R, M] {
	return &Core[R, M]{posted: newQueues[R](sources + 1), unexpected: newQueues[M](sources)}
}

// Arrive removes and returns the oldest posted receive that matches the message. Without a match it
// queues the message.
func (c *Core[R, M]) Arrive(e Envelope, m M) (r R, ok bool) {
	named := c.posted.first(int(e.Source), &e)
	open := c.posted.first(len(c.posted.heads)-1, &e)
	if at := c.posted.older(named, open); at != noNode {
		return c.posted.take(at), true
	}
	c.unexpected.add(int(e.Source), e, m)
	return r, false
}

// Post removes and returns the oldest unexpected message that matches the receive. Without a match
// it queues the receive.
func (c *Core[R, M]) Post(p Envelope, r R) (e Envelope, m M, ok bool) {
	if at := c.find(&p); at != noNode {
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

// Fitting counts the posted receives that match an envelope.
func (c *Core[R, M]) Fitting(e Envelope) (n int) {
	for _, q := range [...]int{int(e.Source), len(c.posted.heads) - 1} {
		for at := c.posted.heads[q]; at != noNode; at = c.posted.at(at).next {
			if c.posted.at(at).env.matches(&e) {
				n++
			}
		}
	}
	return n
}

// Probe returns the message that Post would return, without removing it.
func (c *Core[R, M]) Probe(p Envelope) (e Envelope, m M, ok bool) {
	at := c.find(&p)
	if at == noNode {
		return e, m, false
	}
	n := c.unexpected.at(at)
	return n.env, n.value, true
}

// Take removes and returns the message that Post would return. It never posts a receive.
func (c *Core[R, M]) Take(p Envelope) (e Envelope, m M, ok bool) {
	at := c.find(&p)
	if at == noNode {
		return e, m, false
	}
	e = c.unexpected.at(at).env
	return e, c.unexpected.take(at), true
}

// Withdraw removes the oldest unexpected message of a source for which meant returns true.
func (c *Core[R, M]) Withdraw(source int, meant func(M) bool) (m M, ok bool) {
	for at := c.unexpected.heads[source]; at != noNode; at = c.unexpected.at(at).next {
		if meant(c.unexpected.at(at).value) {
			return c.unexpected.take(at), true
		}
	}
	return m, false
}

// Cancel removes a posted receive.
func (c *Core[R, M]) Cancel(p Envelope, meant func(R) bool) bool {
	q := int(p.Source)
	if p.Source == Any {
		q = len(c.posted.heads) - 1
	}
	for at := c.posted.heads[q]; at != noNode; at = c.posted.at(at).next {
		if meant(c.posted.at(at).value) {
			c.posted.take(at)
			return true
		}
	}
	return false
}

// Posted and Unexpected are the lengths of the two queues.
func (c *Core[R, M]) Posted() int     { return c.posted.count }
func (c *Core[R, M]) Unexpected() int { return c.unexpected.count }

func (c *Core[R, M]) find(p *Envelope) int32 {
	if p.Source != Any {
		return c.unexpected.firstFor(int(p.Source), p)
	}
	for at := c.unexpected.oldest; at != noNode; at = c.unexpected.at(at).younger {
		if p.matches(&c.unexpected.at(at).env) {
			return at
		}
	}
	return noNode
}

// queues are FIFOs of indexed nodes, with one additional list of all nodes by age. Nodes are
// allocated in blocks and never move: a rank of a large world queues a thousand unexpected
// messages, and growing a slice by copying would leave several times that memory as garbage.
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
	younger, elder int32 // by age
}

const noNode = -1

const (
	lotBits = 5
	lot     = 1 << lotBits
)

func (q *queues[V]) at(i int32) *node[V] { return &q.lots[i>>lotBits][i&(lot-1)] }

func newQueues[V any](n int) queues[V] {
	q := queues[V]{free: noNode, oldest: noNode, last: noNode, heads: make([]int32, n), tails: make([]int32, n)}
	for i := range n {
		q.heads[i], q.tails[i] = noNode, noNode
	}
	return q
}

func (q *queues[V]) add(queue int, e Envelope, v V) {
	at := q.free
	if at == noNode {
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
	*q.at(at) = node[V]{env: e, value: v, age: q.age, queue: int32(queue), next: noNode, prev: q.tails[queue], younger: noNode, elder: q.last}
	if t := q.tails[queue]; t == noNode {
		q.heads[queue] = at
	} else {
		q.at(t).next = at
	}
	q.tails[queue] = at
	if q.last == noNode {
		q.oldest = at
	} else {
		q.at(q.last).younger = at
	}
	q.last = at
}

// take removes a node and returns its value.
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
	if n.prev == noNode {
		q.heads[n.queue] = n.next
	} else {
		q.at(n.prev).next = n.next
	}
	if n.next == noNode {
		q.tails[n.queue] = n.prev
	} else {
		q.at(n.next).prev = n.prev
	}
}

func (q *queues[V]) unlinkByAge(n *node[V]) {
	if n.elder == noNode {
		q.oldest = n.younger
	} else {
		q.at(n.elder).younger = n.younger
	}
	if n.younger == noNode {
		q.last = n.elder
	} else {
		q.at(n.younger).elder = n.elder
	}
}

// first finds the oldest node of a queue whose pattern matches the message e.
func (q *queues[V]) first(queue int, e *Envelope) int32 {
	if queue < 0 || queue >= len(q.heads) {
		panic(fmt.Sprintf("match: source %d, expected 0 to %d", queue, len(q.heads)-1))
	}
	for at := q.heads[queue]; at != noNode; at = q.at(at).next {
		if q.at(at).env.matches(e) {
			return at
		}
	}
	return noNode
}

// firstFor finds the oldest node of a queue whose message matches the pattern p.
func (q *queues[V]) firstFor(queue int, p *Envelope) int32 {
	for at := q.heads[queue]; at != noNode; at = q.at(at).next {
		if p.matches(&q.at(at).env) {
			return at
		}
	}
	return noNode
}

func (q *queues[V]) older(a, b int32) int32 {
	if a == noNode || b != noNode && q.at(b).age < q.at(a).age {
		return b
	}
	return a
}
