package packets

import (
	"sync"
	"sync/atomic"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
)

// A part is a set of routers with their nodes that is simulated independently for a block of
// cycles.
type part struct {
	net     *Network
	number  int
	mask    int64 // of agendas
	routers []router
	nodes   []node
	sight   routing.Sight
	mail    [2][]box // by era, to each part
	// receipts are acknowledgements on separate wires, by cycle; nil: there are none.
	receipts       [][]receipt
	touched        uint64
	requests       []request         // of allocate
	longestWaiting [maxPorts]request // by output, of allocate
	held           uint64            // number of holds of an input and an output
	counts
}

// A box is the traffic from one part to another in a block.
type box struct {
	packets  []parcel
	credits  []credit
	receipts []receipt
}

type parcel struct {
	router int32
	queue  uint8
	packet packet
}

type credit struct {
	at     int64
	router int32
	queue  uint8
}

// A receipt informs a node that a partner has received a packet, and of the partner's grant.
type receipt struct {
	at      int64
	node    int32 // within its part
	partner int32
	bound   int32
}

func newPart(n *Network, number, parts int) *part {
	p := &part{net: n, number: number, requests: make([]request, 0, maxQueues)}
	for era := range p.mail {
		p.mail[era] = make([]box, parts)
	}
	return p
}

func (p *part) box(to int32) *box { return &p.mail[p.net.era][to] }

// run simulates a block.
func (p *part) run(from, to int64) {
	p.touch(from, to)
	p.open(from)
	for t := from; t < to; t++ {
		p.acknowledged(t)
		for i := range p.routers {
			p.step(&p.routers[i], t)
		}
	}
}

// touch prefetches the data of the block: other parts have used the cache since, and cache misses
// of independent loads overlap.
func (p *part) touch(from, to int64) {
	x := uint64(0)
	for i := range p.routers {
		r := &p.routers[i]
		x += r.live + uint64(r.used[0]) + uint64(r.used[16])
		for o := range r.port[:r.ports] {
			x += r.port[o].sent
		}
		for t := from; t < to; t++ {
			x += r.agenda[t&p.mask].outs
		}
		queues := int(r.ports) * p.net.vcs
		for q := 0; q < queues; q += 32 {
			x += uint64(r.room[q])
		}
		for q := range r.queues[:queues] {
			if qu := &r.queues[q]; qu.n > 0 {
				x += uint64(r.ring[int(qu.base)+int(qu.head)].born)
			}
		}
	}
	p.touched = x
}

// open takes the mail of the previous block.
func (p *part) open(now int64) {
	for _, other := range p.net.parts {
		b := &other.mail[1-p.net.era][p.number]
		for i := range b.packets {
			m := &b.packets[i]
			*p.push(&p.routers[m.router], int(m.queue), m.packet.head, now) = m.packet
		}
		for _, m := range b.credits {
			p.routers[m.router].agenda[m.at&p.mask].credit[m.queue>>6] |= 1 << (m.queue & 63)
		}
		for _, m := range b.receipts {
			p.receipts[m.at&p.mask] = append(p.receipts[m.at&p.mask], m)
		}
		b.packets, b.credits, b.receipts = b.packets[:0], b.credits[:0], b.receipts[:0]
	}
}

// acknowledge sends the receipt of a packet that node nd has taken in cycle t.
func (p *part) acknowledge(nd *node, pr *peer, t int64) {
	c := &p.net.cfg
	to := p.net.nodes[pr.id]
	b := p.box(to.part)
	b.receipts = append(b.receipts, receipt{t + int64(c.AckCycles), to.index, nd.id, int32(nd.grant.Bound(pr.trip, c.Flits, len(nd.peers)))})
}

// acknowledged processes the receipts of cycle t.
func (p *part) acknowledged(t int64) {
	if p.receipts == nil {
		return
	}
	list := p.receipts[t&p.mask]
	for i := range list {
		nd := &p.nodes[list[i].node]
		pr := nd.known(list[i].partner)
		nd.answered(pr, 1, t)
		pr.bound = list[i].bound
		p.remind(nd, t, t)
	}
	p.receipts[t&p.mask] = list[:0]
}

// Run simulates the cycles before `until`.
func (n *Network) Run(until int64) {
	threads := min(max(n.cfg.Threads, 1), len(n.parts))
	blocks := make([]chan struct{}, threads-1)
	var left atomic.Int64
	var work sync.WaitGroup
	var to int64
	do := func() {
		for i := left.Add(-1); i >= 0; i = left.Add(-1) {
			n.parts[i].run(n.now, to)
		}
	}
	for i := range blocks {
		c := make(chan struct{})
		blocks[i] = c
		go func() {
			for range c {
				do()
				work.Done()
			}
		}()
		defer close(c)
	}
	for n.now < until {
		to = min(n.now+n.block, until)
		left.Store(int64(len(n.parts)))
		work.Add(len(blocks))
		for _, c := range blocks {
			c <- struct{}{}
		}
		do()
		work.Wait()
		n.now = to
		n.era = 1 - n.era
	}
}
