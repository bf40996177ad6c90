package ethernet

import (
	"bytes"
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// Counters count frames and datagrams of the whole network.
type Counters struct {
	FramesSent     uint64 `json:"frames_sent"` // by hosts, at the end of their transmission
	FramesReceived uint64 `json:"frames_received"`

	// By the switch.
	Lost       uint64 `json:"lost"`       // by seed
	Duplicated uint64 `json:"duplicated"` // additional copies
	Reordered  uint64 `json:"reordered"`
	Corrupted  uint64 `json:"corrupted"`
	QueueFull  uint64 `json:"queue_full"` // frames

	// By hosts.
	Foreign        uint64 `json:"foreign"`         // frames for another address or protocol
	BadHeader      uint64 `json:"bad_header"`      // frames with a wrong IP header checksum or length
	BadChecksum    uint64 `json:"bad_checksum"`    // datagrams or segments with a wrong checksum or length
	Overlapping    uint64 `json:"overlapping"`     // datagrams whose fragments contradict each other
	Incomplete     uint64 `json:"incomplete"`      // datagrams given up after ReassemblyTime
	ReassemblyFull uint64 `json:"reassembly_full"` // fragments
	NoSocket       uint64 `json:"no_socket"`       // datagrams or segments to a port that is not open
	SocketFull     uint64 `json:"socket_full"`     // datagrams
	Unroutable     uint64 `json:"unroutable"`      // datagrams to an address without a host
	Sent           uint64 `json:"sent"`            // datagrams
	Delivered      uint64 `json:"delivered"`       // datagrams in socket buffers
	Segments       uint64 `json:"segments"`        // of streams, sent
	Retransmitted  uint64 `json:"retransmitted"`   // segments with payload, among these
}

// PortCounters describe the output queue of the switch to one host.
type PortCounters struct {
	Dropped   uint64 `json:"dropped"`
	PeakBytes int    `json:"peak_bytes"` // on the wire, queued or being sent
}

// Network is a switch with hosts. It is not safe for concurrent use.
type Network struct {
	config   Config
	now      drivers.Time
	events   eventQueue
	sequence uint64
	serial   uint64
	hosts    []*host

	firstSequence uint32 // of streams; any serves, as no duplicate of an older stream exists
	counters      Counters

	loss, duplicate, reorder, corrupt chance
	sent, received                    *capture
}

// port is the transmitter of a cable.
type port struct {
	queued int          // bytes on the wire, up to the end of their transmission
	freeAt drivers.Time // end of the last transmission
	PortCounters
}

// chance is an event with a probability and random numbers of its own.
type chance struct {
	probability float64
	random      *rand.Rand
}

func newChance(probability float64, seed, stream uint64) chance {
	return chance{probability, rand.New(rand.NewPCG(seed, stream))}
}

func (c *chance) occurs() bool { return c.probability > 0 && c.random.Float64() < c.probability }

type eventKind uint8

const (
	frameLeftHost eventKind = iota
	frameAtSwitch
	frameDelayed // reordering: the frame enters the output queue late
	frameLeftSwitch
	frameAtHost
	datagramReady
	reassemblyExpired
	segmentReady
	streamTimer
)

type event struct {
	at       drivers.Time
	sequence uint64
	kind     eventKind
	host     *host // the sender in frameLeftHost, otherwise the receiver
	data     []byte
	size     int // bytes on the wire
	socket   *Socket
	datagram received
	key      reassemblyKey
	serial   uint64
	stream   *Stream
	segment  *segment
}

// eventQueue orders events by time, then by the order in which they were scheduled.
type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].sequence < q[j].sequence
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}

// New returns a network at time 0.
func New(c Config) (*Network, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	n := &Network{
		config: c,
		loss:   newChance(c.Loss, c.Seed, 1), duplicate: newChance(c.Duplicate, c.Seed, 2),
		reorder: newChance(c.Reorder, c.Seed, 3), corrupt: newChance(c.Corrupt, c.Seed, 4),
	}
	for i := range c.Hosts {
		n.hosts = append(n.hosts, &host{
			network: n, index: i, sockets: map[uint16]*Socket{}, streams: map[streamKey]*Stream{},
			listeners: map[uint16]*Listener{}, nextPort: firstDialPort, partial: map[reassemblyKey]*reassembly{},
		})
	}
	if n.sent, err = newCapture(c.Sent, c.Hosts); err != nil {
		return nil, err
	}
	n.received, err = newCapture(c.Received, c.Hosts)
	return n, err
}

// Close completes the captures.
func (n *Network) Close() error { return closeCaptures(n.sent, n.received) }

// Counters returns the counters of the network.
func (n *Network) Counters() Counters { return n.counters }

// Port returns the counters of the output queue to a host.
func (n *Network) Port(host int) PortCounters { return n.hosts[host].down.PortCounters }

// Now returns the simulated time.
func (n *Network) Now() drivers.Time { return n.now }

// Clock returns the simulated time for the timeouts of a device.
func (n *Network) Clock() time.Duration { return time.Duration(n.now / drivers.Nanosecond) }

// NextEvent returns the time of the next event, or drivers.Never.
func (n *Network) NextEvent() drivers.Time {
	if len(n.events) == 0 {
		return drivers.Never
	}
	return n.events[0].at
}

// AdvanceTo simulates until a time, which must not be earlier than now.
func (n *Network) AdvanceTo(t drivers.Time) {
	for n.NextEvent() <= t {
		e := heap.Pop(&n.events).(event)
		n.now = e.at
		n.handle(&e)
	}
	n.now = max(n.now, t)
}

func (n *Network) schedule(at drivers.Time, e event) {
	n.sequence++
	e.at, e.sequence = at, n.sequence
	heap.Push(&n.events, e)
}

func (n *Network) handle(e *event) {
	switch e.kind {
	case frameLeftHost:
		e.host.up.queued -= e.size
		n.counters.FramesSent++
		n.sent.write(n.now, e.host.index, e.data)
	case frameAtSwitch:
		n.forward(e)
	case frameDelayed:
		n.enqueue(e.host, e.data)
	case frameLeftSwitch:
		e.host.down.queued -= e.size
	case frameAtHost:
		n.counters.FramesReceived++
		n.received.write(n.now, e.host.index, e.data)
		e.host.receive(e.data)
	case datagramReady:
		e.socket.queue = append(e.socket.queue, e.datagram)
		n.counters.Delivered++
	case reassemblyExpired:
		e.host.expire(e.key, e.serial)
	case segmentReady:
		e.host.deliver(e.segment)
	case streamTimer:
		e.stream.expire()
	}
}

// wireTime is the time in which a cable transmits bytes.
func (n *Network) wireTime(size int) drivers.Time {
	return drivers.Time(int64(size) * 8 * int64(drivers.Second) / n.config.Rate)
}

// transmit queues a frame at a transmitter and returns the end of its transmission.
func (n *Network) transmit(p *port, ready drivers.Time, size int) drivers.Time {
	p.queued += size
	p.PeakBytes = max(p.PeakBytes, p.queued)
	p.freeAt = max(ready, p.freeAt) + n.wireTime(size)
	return p.freeAt
}

// forward applies the faults to a frame that the switch has received.
func (n *Network) forward(e *event) {
	if n.loss.occurs() {
		n.counters.Lost++
		return
	}
	if n.duplicate.occurs() {
		n.counters.Duplicated++
		n.enqueue(e.host, e.data)
	}
	if n.corrupt.occurs() {
		n.counters.Corrupted++
		e.data = bytes.Clone(e.data) // captures and copies of the frame share its bytes
		bit := n.corrupt.random.IntN(len(e.data) * 8)
		e.data[bit/8] ^= 1 << (bit % 8)
	}
	if n.reorder.occurs() {
		n.counters.Reordered++
		n.schedule(n.now+n.config.ReorderDelay, event{kind: frameDelayed, host: e.host, data: e.data})
		return
	}
	n.enqueue(e.host, e.data)
}

// enqueue queues a frame at the output port to a host, or drops it.
func (n *Network) enqueue(h *host, data []byte) {
	size := wireBytes(len(data))
	if h.down.queued+size > n.config.SwitchQueue {
		n.counters.QueueFull++
		h.down.Dropped++
		return
	}
	end := n.transmit(&h.down, n.now, size)
	n.schedule(end, event{kind: frameLeftSwitch, host: h, size: size})
	n.schedule(end+n.config.Cable, event{kind: frameAtHost, host: h, data: data})
}
