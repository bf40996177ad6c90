package packets

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
)

// A packet has 32 bytes.
type packet struct {
	born  int64
	head  int64 // cycle in which its head arrives at its location
	src   int32
	h     routing.Header
	flits uint8
	acks  uint8 // packets that it acknowledges
	bound uint8 // grant of its source
	marks uint8
}

// moved copies a packet to its next location, where its head arrives in a given cycle. It copies
// field by field, with changed values in registers: store-to-load forwarding works only if a value
// is loaded in the same pieces in which it was stored; a load of the whole would wait for all
// stores before it.
func (p *packet) moved(o *packet, head int64, hops, marks uint8) {
	p.born, p.head = o.born, head
	p.src = o.src
	p.h.Dst, p.h.Via, p.h.Stage, p.h.Hops = o.h.Dst, o.h.Via, o.h.Stage, hops
	p.flits, p.acks, p.bound, p.marks = o.flits, o.acks, o.bound, marks
}

// Marks of a packet.
const (
	fecn = 1 << iota // it entered a queue that is too full
	becn             // a packet sent by its destination did
)

// A queue belongs to an input port and a VC. Its packets may still be on their way: room is
// reserved when they start to cross the previous router.
type queue struct {
	free       int64  // cycle from which its front packet is routed: that of the last service
	base       uint16 // of its ring
	head       uint8
	n          uint8
	out        uint8 // output of its front packet
	vc         uint8 // VC at that output
	passedOver uint8 // number of times that its front packet, the oldest request for its output, was passed over
}

// A port is an input and an output.
type port struct {
	wants    [2]uint64 // queues that request the output and have room behind it
	inFree   int64     // ticks
	outFree  int64     // ticks
	wireFree int64     // cycles
	sent     uint64    // flits
	part     int32     // destination of the wire
	peer     int32     // router there
	node     int32     // of this part; -1: none
	cycles   int16
	peerPort uint8
	heldFor  uint8 // queue that the output is held for, if it is in heldOut
}

// due is the set of events of a router in a cycle.
type due struct {
	arrive [2]uint64 // front packets to be routed
	credit [2]uint64 // returned room, by output and VC
	free   [2]uint64 // inputs, with all their queues
	outs   uint64
	nodes  uint64 // by port: something to receive or to send
}

type router struct {
	live    uint64 // requested outputs
	outBusy uint64
	inBusy  [2]uint64
	heldOut uint64    // outputs held for a front packet that was passed over too often
	heldIn  [2]uint64 // queues that may not cross, because their input is held for another of its queues
	agenda  []due
	ring    []packet
	id      int32
	ports   int32
	base    int
	dice    rand.PCG
	used    [maxPorts]int32 // flits, by output
	room    [maxQueues]int16
	queues  [maxQueues]queue
	waits   [maxQueues][2]uint64 // queues that request an output and a VC without room
	port    [maxPorts]port
}

// step processes cycle t in this order: room returns, ports become free, nodes receive and send,
// front packets are routed, front packets cross.
func (p *part) step(r *router, t int64) {
	d := &r.agenda[t&p.mask]
	nodes := d.nodes
	if d.credit[0]|d.credit[1] != 0 {
		nodes |= p.credits(r, d)
	}
	if d.outs != 0 {
		r.outBusy &^= d.outs
	}
	r.inBusy[0] &^= d.free[0]
	r.inBusy[1] &^= d.free[1]
	arrive := d.arrive
	*d = due{}
	for ; nodes != 0; nodes &= nodes - 1 {
		port := bits.TrailingZeros64(nodes)
		nd := &p.nodes[r.port[port].node]
		p.take(r, nd, t)
		p.send(r, nd, t)
	}
	for w, mask := range arrive {
		for ; mask != 0; mask &= mask - 1 {
			p.route(r, w*64+bits.TrailingZeros64(mask), t)
		}
	}
	if idle := r.live &^ r.outBusy; idle != 0 {
		p.allocate(r, idle, t)
	}
}

// credits returns room, and reports for which nodes.
func (p *part) credits(r *router, d *due) (nodes uint64) {
	for w, mask := range d.credit {
		for ; mask != 0; mask &= mask - 1 {
			q := w*64 + bits.TrailingZeros64(mask)
			o := int(p.net.portOf[q])
			if nd := r.port[o].node; nd >= 0 {
				p.nodes[nd].room++
				nodes |= 1 << o
				continue
			}
			p.giveBack(r, o, q)
		}
	}
	return nodes
}

// giveBack returns room for one packet behind an output, on a VC.
func (p *part) giveBack(r *router, o, q int) {
	r.room[q]++
	r.used[o] -= int32(p.net.cfg.Flits)
	if w := &r.waits[q]; w[0]|w[1] != 0 {
		r.port[o].wants[0] |= w[0]
		r.port[o].wants[1] |= w[1]
		r.live |= 1 << o
		*w = [2]uint64{}
	}
}

// wake schedules a queue for the cycle in which its front packet may be routed.
func (p *part) wake(r *router, q int, now int64) {
	qu := &r.queues[q]
	p.wakeAt(r, q, max(r.ring[int(qu.base)+int(qu.head)].head, qu.free), now)
}

func (p *part) wakeAt(r *router, q int, t, now int64) {
	t = min(t, now+p.mask)
	r.agenda[t&p.mask].arrive[q>>6] |= 1 << (q & 63)
}

// push returns the slot for a packet in a queue, where it arrives in a given cycle.
func (p *part) push(r *router, q int, head, now int64) *packet {
	qu := &r.queues[q]
	at := int(qu.head) + int(qu.n)
	if at >= p.net.capacity {
		at -= p.net.capacity
	}
	if int(qu.n) >= p.net.capacity {
		panic(fmt.Sprintf("packets: router %d, queue %d: a packet without room", r.id, q))
	}
	qu.n++
	if qu.n == 1 {
		p.wakeAt(r, q, max(head, qu.free), now)
	}
	return &r.ring[int(qu.base)+at]
}

func (p *part) route(r *router, q int, t int64) {
	qu := &r.queues[q]
	pk := &r.ring[int(qu.base)+int(qu.head)]
	if pk.head > t || qu.free > t {
		p.wake(r, q, t)
		return
	}
	p.sight.Used, p.sight.Rand = r.used[:], &r.dice
	out, vc := p.net.cfg.Routing.Route(int(r.id), int(p.net.portOf[q&(maxQueues-1)]), &pk.h, &p.sight)
	qu.out, qu.vc = uint8(out), uint8(vc)
	if ask := out*p.net.vcs + vc; r.room[ask] > 0 {
		r.port[out].wants[q>>6] |= 1 << (q & 63)
		r.live |= 1 << out
	} else {
		r.waits[ask][q>>6] |= 1 << (q & 63)
	}
}

// cross lets the front packet of a queue cross to an output from cycle t on.
func (p *part) cross(r *router, o, q int, t int64) {
	n := p.net
	qu, out := &r.queues[q], &r.port[o]
	inPort := int(n.portOf[q&(maxQueues-1)])
	in := &r.port[inPort]
	pk := &r.ring[int(qu.base)+int(qu.head)]
	flits := int64(pk.flits)

	start := max(t*ticks, in.inFree, out.outFree)
	end := max(start+flits*n.flitTime, (pk.head+flits-1)*ticks+n.flitTime)
	in.inFree, out.outFree = end, end
	left := max(end/ticks, t+1)
	d := &r.agenda[left&p.mask]
	busy := &n.queuesOf[inPort]
	d.free[0] |= busy[0]
	d.free[1] |= busy[1]
	d.outs |= 1 << o
	r.inBusy[0] |= busy[0]
	r.inBusy[1] |= busy[1]
	r.outBusy |= 1 << o

	if r.heldOut>>o&1 != 0 {
		r.release(o, busy)
	}
	qu.passedOver = 0
	out.wants[q>>6] &^= 1 << (q & 63)
	if out.wants[0]|out.wants[1] == 0 {
		r.live &^= 1 << o
	}
	p.forward(r, o, int(qu.vc), pk, t)

	qu.free = left
	if qu.head++; int(qu.head) == n.capacity {
		qu.head = 0
	}
	if qu.n--; qu.n > 0 {
		p.wake(r, q, t)
	} else {
		qu.head = 0 // most queues are nearly empty: they stay in the first cache line of their ring
	}
	p.returnRoom(r, in, q, left+1+int64(in.cycles))
}

// forward sends a packet over the wire of an output.
func (p *part) forward(r *router, o, vc int, pk *packet, t int64) {
	n := p.net
	out := &r.port[o]
	ask := o*n.vcs + vc
	marks, hops := pk.marks, pk.h.Hops+1
	if e := n.cfg.ECN; e != nil && marks&fecn == 0 && marked(e.Chance(1-float64(r.room[ask])/float64(n.capacity)), &r.dice) {
		marks |= fecn
	}
	r.room[ask]--
	r.used[o] += int32(n.cfg.Flits)
	wire := max(t+int64(n.cfg.RouterCycles), out.wireFree)
	out.wireFree = wire + int64(pk.flits)
	out.sent += uint64(pk.flits)
	p.hops += uint64(pk.flits)
	if out.node >= 0 {
		p.sink(r, &p.nodes[out.node], int64(pk.flits), wire, t).moved(pk, wire, hops, marks)
		return
	}
	head := wire + int64(out.cycles)
	q := int(out.peerPort)*n.vcs + vc
	if int(out.part) == p.number {
		p.push(&p.routers[out.peer], q, head, t).moved(pk, head, hops, marks)
		return
	}
	box := p.box(out.part)
	box.packets = append(box.packets, parcel{router: out.peer, queue: uint8(q)})
	box.packets[len(box.packets)-1].packet.moved(pk, head, hops, marks)
}

// returnRoom returns a queue's room to its sender.
func (p *part) returnRoom(r *router, in *port, q int, at int64) {
	if in.node >= 0 {
		r.agenda[at&p.mask].credit[q>>6] |= 1 << (q & 63)
		return
	}
	back := int(in.peerPort)*p.net.vcs + q - int(p.net.portOf[q&(maxQueues-1)])*p.net.vcs
	if int(in.part) == p.number {
		p.routers[in.peer].agenda[at&p.mask].credit[back>>6] |= 1 << (back & 63)
		return
	}
	box := p.box(in.part)
	box.credits = append(box.credits, credit{at, in.peer, uint8(back)})
}
