package libfabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// The critical path of a run is the chain of messages that decided when the last rank ended. Going
// back from there: the rank last waited for a message; the rank that sent it had, before that, last
// waited for another; and so on to the beginning. Making anything else faster changes nothing.

// A hop is a message that a rank waited for.
type hop struct {
	before         *hop // the last one that its sender had waited for when it sent
	from, to       int
	sent, received drivers.Time
}

// A stream is the messages between two ranks that can only be received in order.
type stream struct {
	from, to int
	tagged   bool
	tag      uint64
}

// A sentMessage is a message that no receive has got yet.
type sentMessage struct {
	at   drivers.Time
	last *hop // of its sender
}

// criticalPath follows the messages of a run while it runs. Hops that no later message depends on
// become garbage.
type criticalPath struct {
	last  []*hop // by rank
	waits []bool // by rank: it has looked in vain since its last message
	open  map[stream][]sentMessage
}

func newCriticalPath(ranks int) *criticalPath {
	return &criticalPath{last: make([]*hop, ranks), waits: make([]bool, ranks), open: map[stream][]sentMessage{}}
}

func (c *criticalPath) send(from, to int, tagged bool, tag uint64, at drivers.Time) {
	s := stream{from, to, tagged, tag}
	c.open[s] = append(c.open[s], sentMessage{at, c.last[from]})
}

// take removes the oldest message of a stream. It is the one that a receive gets: MPI and libfabric
// do not let messages with equal tags overtake each other.
func (c *criticalPath) take(s stream) (m sentMessage, ok bool) {
	list := c.open[s]
	if len(list) == 0 {
		return m, false
	}
	if len(list) == 1 {
		delete(c.open, s)
	} else {
		c.open[s] = list[1:]
	}
	return list[0], true
}

func (c *criticalPath) receive(from, to int, tagged bool, tag uint64, at drivers.Time) {
	m, ok := c.take(stream{from, to, tagged, tag})
	if !ok || !c.waits[to] {
		return
	}
	c.waits[to] = false
	c.last[to] = &hop{before: m.last, from: from, to: to, sent: m.at, received: at}
}

// A CriticalPath is the chain of messages that decided when the last rank ended.
type CriticalPath struct {
	Messages int `json:"messages"`
	// InMessages is the time from sends of the chain to their receives, OnRanks the rest of the run:
	// what ranks of the chain did between them.
	InMessages drivers.Time `json:"in_messages_ps"`
	OnRanks    drivers.Time `json:"on_ranks_ps"`
	// Last are the last messages of the chain, the oldest of them first.
	Last []CriticalMessage `json:"last"`
}

// A CriticalMessage is one message of a critical path.
type CriticalMessage struct {
	From     int          `json:"from"`
	To       int          `json:"to"`
	Sent     drivers.Time `json:"sent_ps"`
	Received drivers.Time `json:"received_ps"`
}

// listedHops is how many messages of the critical path a report lists.
const listedHops = 16

func (c *criticalPath) report(slowest int, end drivers.Time) *CriticalPath {
	p := &CriticalPath{Last: []CriticalMessage{}}
	for h := c.last[slowest]; h != nil; h = h.before {
		p.Messages++
		p.InMessages += h.received - h.sent
		if p.Messages <= listedHops {
			p.Last = append(p.Last, CriticalMessage{h.from, h.to, h.sent, h.received})
		}
	}
	slices.Reverse(p.Last)
	p.OnRanks = end - p.InMessages
	return p
}

// String names the ranks at the end of the chain.
func (p *CriticalPath) String() string {
	if p.Messages == 0 {
		return "no rank waited for a message"
	}
	var b strings.Builder
	if p.Messages > len(p.Last) {
		b.WriteString("... ")
	}
	for i, m := range p.Last {
		if i == 0 {
			fmt.Fprintf(&b, "%d", m.From)
		}
		fmt.Fprintf(&b, " > %d", m.To)
	}
	all := p.InMessages + p.OnRanks
	return fmt.Sprintf("%d messages, %v of %v in them: %s", p.Messages, p.InMessages, all, b.String())
}
