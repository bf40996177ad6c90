package packets

import "math/bits"

// A request is a front packet that requests an output and has room behind it. Requests are compared
// as numbers: the one whose queue was served longest ago is the smallest; ties go to the lower
// queue number.
type request int64

// none is larger than every request.
const none request = 1<<63 - 1

func (qu *queue) request(q int) request { return request(qu.free*maxQueues + int64(q)) }

func (x request) queue() int { return int(x) & (maxQueues - 1) }

// patience is the number of times that the oldest request for an output may be passed over before
// its input and its output are held for it. It may have lost the input to older requests or, with a
// Speedup near 1, never find both free in the same cycle.
const patience = 16

// allocate lets front packets cross whose input and output are free, in the order in which their
// queues were last served. A request can therefore lose its input or output only to an older one,
// which is younger from then on.
func (p *part) allocate(r *router, idle uint64, t int64) {
	list := p.requests[:0]
	for ; idle != 0; idle &= idle - 1 {
		list = p.collect(r, bits.TrailingZeros64(idle), list)
	}
	overtaken := uint64(0) // outputs not given to their oldest request
	for _, x := range list {
		q := x.queue()
		o := int(r.queues[q].out)
		if r.outBusy>>o&1 != 0 || r.inBusy[q>>6]>>(q&63)&1 != 0 {
			continue
		}
		p.cross(r, o, q, t)
		if p.longestWaiting[o] != x {
			overtaken |= 1 << o
		}
	}
	for ; overtaken != 0; overtaken &= overtaken - 1 {
		o := bits.TrailingZeros64(overtaken)
		p.passOver(r, o, p.longestWaiting[o].queue())
	}
}

// collect inserts the requests for an output whose inputs are free into a sorted list, and records
// the oldest of all.
func (p *part) collect(r *router, o int, list []request) []request {
	pt := &r.port[o]
	ready := [2]uint64{pt.wants[0] &^ (r.inBusy[0] | r.heldIn[0]), pt.wants[1] &^ (r.inBusy[1] | r.heldIn[1])}
	if r.heldOut>>o&1 != 0 {
		var only [2]uint64
		only[pt.heldFor>>6] = 1 << (pt.heldFor & 63)
		ready[0], ready[1] = ready[0]&only[0], ready[1]&only[1]
	}
	if ready[0]|ready[1] == 0 {
		return list
	}
	oldest := none
	for w, wants := range pt.wants {
		for ; wants != 0; wants &= wants - 1 {
			bit := bits.TrailingZeros64(wants)
			q := w*64 + bit
			qu := &r.queues[q]
			if ask := o*p.net.vcs + int(qu.vc); r.room[ask] == 0 {
				pt.wants[w] &^= 1 << bit
				r.waits[ask][w] |= 1 << bit
				continue
			}
			x := qu.request(q)
			oldest = min(oldest, x)
			if ready[w]>>bit&1 != 0 {
				list = insert(list, x)
			}
		}
	}
	if pt.wants[0]|pt.wants[1] == 0 {
		r.live &^= 1 << o
	}
	p.longestWaiting[o] = oldest
	return list
}

// insert keeps a list of requests sorted; it is usually short.
func insert(list []request, x request) []request {
	i := len(list)
	list = append(list, x)
	for ; i > 0 && list[i-1] > x; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
	return list
}

// passOver counts that an output was given to another packet than its oldest request, and holds the
// output and the input for that request after too many times. A held pair is used at the latest
// when the packets now crossing have finished: there is room for the packet, and nothing else
// crosses to that output.
func (p *part) passOver(r *router, o, q int) {
	qu := &r.queues[q]
	if qu.passedOver < p.net.patience {
		qu.passedOver++
		return
	}
	input := &p.net.queuesOf[p.net.portOf[q&(maxQueues-1)]]
	if (r.heldIn[0]&input[0])|(r.heldIn[1]&input[1]) != 0 || r.room[o*p.net.vcs+int(qu.vc)] == 0 {
		return
	}
	r.heldOut |= 1 << o
	r.port[o].heldFor = uint8(q)
	r.heldIn[0] |= input[0]
	r.heldIn[1] |= input[1]
	r.heldIn[q>>6] &^= 1 << (q & 63)
	p.held++
}

// release ends the hold of an output and of the input with the given queues.
func (r *router) release(o int, input *[2]uint64) {
	r.heldOut &^= 1 << o
	r.heldIn[0] &^= input[0]
	r.heldIn[1] &^= input[1]
}
