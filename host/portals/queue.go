package portals

import "slices"

// A packetQueue is a growing ring of packets to send.
type packetQueue struct {
	ring    []Packet
	buffers [][]byte // of each position: the data of a fetching atomic before the operation
	head, n int
}

func (q *packetQueue) tail() int { return (q.head + q.n) & (len(q.ring) - 1) }

func (q *packetQueue) grow() {
	if q.n < len(q.ring) {
		return
	}
	old := *q
	size := max(2*len(q.ring), 8)
	q.ring, q.buffers, q.head = make([]Packet, size), make([][]byte, size), 0
	for i := range old.n {
		from := (old.head + i) & (len(old.ring) - 1)
		q.ring[i], q.buffers[i] = old.ring[from], old.buffers[from]
	}
}

// scratch is a buffer for the payload of the packet that is pushed next.
func (q *packetQueue) scratch(length int) []byte {
	q.grow()
	at := q.tail()
	q.buffers[at] = slices.Grow(q.buffers[at][:0], length)[:length]
	return q.buffers[at]
}

func (q *packetQueue) push(p *Packet) {
	q.grow()
	q.ring[q.tail()] = *p
	q.n++
}

func (q *packetQueue) pop(p *Packet) bool {
	if q.n == 0 {
		return false
	}
	*p = q.ring[q.head]
	q.ring[q.head].Payload = nil
	q.head, q.n = (q.head+1)&(len(q.ring)-1), q.n-1
	return true
}
