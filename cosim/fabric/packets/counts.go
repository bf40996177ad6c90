package packets

import "math/bits"

// counts are the counters of a part.
type counts struct {
	born uint64 // data packets sent
	sent uint64 // packets sent
	came uint64 // packets received
	hops uint64 // flits that crossed a router
	data Latencies
}

// count counts a received data packet.
func (p *part) count(pk *packet, latency int64) {
	if w := p.net.cfg.Watched; pk.born < p.net.since || w != nil && !w[pk.src] {
		return
	}
	p.data.Add(latency, int(pk.h.Hops))
}

// fine is the number of latency classes per octave.
const fine = 32

// Latencies are statistics of packet latencies, in cycles from creation to the arrival of the last
// flit in memory.
type Latencies struct {
	Packets uint64
	Sum     uint64
	Hops    uint64 // routers passed
	Max     int64
	classes [fine * 28]uint32
}

// Add counts a packet.
func (l *Latencies) Add(v int64, hops int) {
	l.Packets++
	l.Sum += uint64(v)
	l.Hops += uint64(hops)
	l.Max = max(l.Max, v)
	l.classes[class(v)]++
}

// class is exact below 2*fine, and within 1/fine above.
func class(v int64) int {
	if v < fine {
		return int(max(v, 0))
	}
	e := bits.Len64(uint64(v)) - bits.Len(fine)
	return min(e*fine+int(v>>e), fine*28-1)
}

// lowest is the smallest value of a class.
func lowest(c int) int64 {
	if c < fine {
		return int64(c)
	}
	e := c/fine - 1
	return int64(c-e*fine) << e
}

func (l *Latencies) merge(o *Latencies) {
	l.Packets += o.Packets
	l.Sum += o.Sum
	l.Hops += o.Hops
	l.Max = max(l.Max, o.Max)
	for i, n := range o.classes {
		l.classes[i] += n
	}
}

// Mean is the average; 0 if there are none.
func (l *Latencies) Mean() float64 { return float64(l.Sum) / float64(max(l.Packets, 1)) }

// Quantile is the latency not exceeded by a share of the packets, to within 3 %.
func (l *Latencies) Quantile(share float64) int64 {
	left := uint64(share * float64(l.Packets))
	for c, n := range l.classes {
		if uint64(n) > left {
			return min(lowest(c), l.Max)
		}
		left -= uint64(n)
	}
	return l.Max
}

// Classes calls f for every non-empty class: from inclusive, to exclusive.
func (l *Latencies) Classes(f func(from, to int64, packets uint32)) {
	for c, n := range l.classes {
		if n > 0 {
			f(lowest(c), lowest(c+1), n)
		}
	}
}

// Totals are counters since cycle 0, except for latencies.
type Totals struct {
	Born     uint64 // data packets sent
	Sent     uint64 // packets sent, including acknowledgements
	Came     uint64 // packets received
	Flits    uint64 // data flits received
	FlitHops uint64 // flits that crossed a router
}

// UnderWay is the number of packets in flight.
func (t Totals) UnderWay() uint64 { return t.Sent - t.Came }

// Totals returns the sums of all counters.
func (n *Network) Totals() (t Totals) {
	for _, p := range n.parts {
		t.Born += p.born
		t.Sent += p.sent
		t.Came += p.came
		t.FlitHops += p.hops
		for i := range p.nodes {
			t.Flits += p.nodes[i].taken
		}
	}
	return t
}

// Measure resets the latency statistics; packets created from now on count.
func (n *Network) Measure() {
	n.since = n.now
	for _, p := range n.parts {
		p.data = Latencies{}
	}
}

// Latencies returns the statistics since Measure.
func (n *Network) Latencies() *Latencies {
	l := &Latencies{}
	for _, p := range n.parts {
		l.merge(&p.data)
	}
	return l
}

// Taken returns the data flits received, by node.
func (n *Network) Taken() []uint64 {
	list := make([]uint64, len(n.nodes))
	for i, at := range n.nodes {
		list[i] = n.parts[at.part].nodes[at.index].taken
	}
	return list
}

// Carried is the number of flits sent by an output: those that have crossed, without those that
// still wait for the wire.
func (n *Network) Carried(router, port int) uint64 {
	at := n.locations[router]
	pt := &n.parts[at.part].routers[at.index].port[port]
	return pt.sent - min(pt.sent, uint64(max(0, pt.wireFree-n.now)))
}
