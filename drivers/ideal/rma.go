package ideal

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	descBytes    = 24
	answerDepth  = 4 // answers that wait for the network
	memoryCycles = 4 // a unit's look at memory, beside the beats
)

// Virtual channels: answers never wait for requests.
const (
	vcRequest = 0
	vcAnswer  = 1
)

type descriptor struct {
	w0     regs.RMADesc
	w1, w2 uint64
	ready  drivers.Cycle
}

// An rmaPacket is one of RMA. Its body is the extension flit and what follows;
// the header's length counts it all.
type rmaPacket struct {
	header regs.Header
	ready  drivers.Cycle
	body   [8 + regs.RMAMTU]byte
}

func (p *rmaPacket) op() regs.RMAOp   { return regs.RMAOp(p.header.Op()) }
func (p *rmaPacket) ext() regs.RMAExt { return regs.RMAExt(binary.LittleEndian.Uint64(p.body[:])) }
func (p *rmaPacket) word() uint64     { return binary.LittleEndian.Uint64(p.body[8:]) }
func (p *rmaPacket) bytes() []byte    { return p.body[8:p.header.Length()] }

func (p *rmaPacket) set(ext regs.RMAExt, word uint64) {
	binary.LittleEndian.PutUint64(p.body[:], uint64(ext))
	binary.LittleEndian.PutUint64(p.body[8:], word)
}

// words are the flits between header and tail, padded with zeros.
func (p *rmaPacket) words() []byte {
	padded := flit.Payload(p.header) * regs.FlitBytes
	clear(p.body[p.header.Length():padded])
	return p.body[:padded]
}

// A unit works on one thing at a time. When it cannot go on it waits for room in
// a ring or a queue; until then it has nothing to do.
type unit struct {
	free  drivers.Cycle
	ring  *notiRing
	queue *queue[rmaPacket]
	depth int // of queue
}

func (u *unit) blocked() bool {
	return u.ring != nil && u.ring.full() || u.queue != nil && u.queue.n >= u.depth
}

// done ends what the unit waited for and worked on.
func (u *unit) done(free drivers.Cycle) { *u = unit{free: free} }

func (u *unit) due(ready drivers.Cycle) drivers.Cycle {
	if u.blocked() {
		return drivers.Forever
	}
	return max(ready, u.free)
}

// rma is a node's RMA engine.
type rma struct {
	rings [regs.VPIDs]notiRing

	descs     [regs.VPIDs]queue[descriptor]
	progress  [regs.VPIDs]uint32
	turn      int // process whose fragment is next
	requester unit
	frag      fragment // the one that it tries to send

	in        [regs.VCs]queue[rmaPacket] // on the way here, and waiting
	completer [regs.VCs]unit
	answers   queue[rmaPacket]
	answerer  unit

	txPackets, rxPackets, rxDropped, refused, errors, notis, notiOff uint64
}

func (r *rma) empty() bool {
	n := r.in[0].n + r.in[1].n + r.answers.n
	for v := range r.descs {
		n += r.descs[v].n
	}
	return n == 0
}

// pick finds the process whose turn it is: the next with a descriptor.
func (r *rma) pick() (vpid int, ok bool) {
	for i := range regs.VPIDs {
		if v := (r.turn + i) % regs.VPIDs; r.descs[v].n > 0 {
			return v, true
		}
	}
	return 0, false
}

// nextRMA is the first cycle at which the engine does something by itself.
func (n *node) nextRMA() drivers.Cycle {
	r := &n.rma
	t := n.atu.commandDue()
	if v, ok := r.pick(); ok {
		t = min(t, r.requester.due(r.descs[v].first().ready))
	}
	for vc := range r.in {
		if r.in[vc].n > 0 {
			t = min(t, r.completer[vc].due(r.in[vc].first().ready))
		}
	}
	if r.answers.n > 0 {
		t = min(t, r.answerer.due(r.answers.first().ready))
	}
	return t
}

// stepRMA does what is due now, answers first.
func (n *node) stepRMA(now drivers.Cycle) {
	r := &n.rma
	if n.atu.commandDue() <= now {
		n.execute(now)
	}
	if q := &r.in[vcAnswer]; q.n > 0 && r.completer[vcAnswer].due(q.first().ready) <= now {
		n.completeAnswer(now)
	}
	if r.answers.n > 0 && r.answerer.due(r.answers.first().ready) <= now {
		n.injectAnswer(now)
	}
	if q := &r.in[vcRequest]; q.n > 0 && r.completer[vcRequest].due(q.first().ready) <= now {
		n.completeRequest(now)
	}
	if v, ok := r.pick(); ok && r.requester.due(r.descs[v].first().ready) <= now {
		n.request(now, v)
	}
}

// ringRoom tells whether a notice finds room; if not, u waits for it.
func (n *node) ringRoom(now drivers.Cycle, u *unit, m *notice) bool {
	u.ring = nil
	if m.wanted {
		u.ring = &n.rma.rings[m.vpid]
	}
	if u.blocked() {
		u.ring.stall.begin(now)
		return false
	}
	return true
}

// room tells whether q takes one more packet; if not, u waits for it.
func (u *unit) room(q *queue[rmaPacket], depth int) bool {
	u.queue, u.depth = q, depth
	return !u.blocked()
}

func (n *node) netRoom(u *unit, dst uint16, vc int) bool {
	return u.room(&n.s.nodes[dst].rma.in[vc], n.s.depth)
}

// injectRMA sends a packet that the network has room for.
func (n *node) injectRMA(now drivers.Cycle, u *unit, p *rmaPacket) {
	at := max(now, n.txFree)
	flits := drivers.Cycle(flit.Total(p.header))
	n.txFree = at + flits
	u.done(n.txFree)
	dst := &n.s.nodes[p.header.DstNode()]
	dst.ejected = max(dst.ejected, at+n.s.latency) + flits
	p.ready = dst.ejected
	words := p.words()
	n.traceWords(at, drivers.PointInject, p.header, words)
	dst.traceWords(dst.ejected-flits, drivers.PointEject, p.header, words)
	*dst.rma.in[p.header.VC()].grow() = *p
	n.rma.txPackets++
}

func (n *node) injectAnswer(now drivers.Cycle) {
	r := &n.rma
	p := r.answers.first()
	if !n.netRoom(&r.answerer, p.header.DstNode(), vcAnswer) {
		return
	}
	n.injectRMA(now, &r.answerer, p)
	r.answers.drop()
}
