package iwarp

import (
	"net/netip"

	"github.com/nicloop/nicloop/host/iwarp/datagram"
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// DatagramCounters count datagrams that were dropped.
type DatagramCounters struct {
	Corrupt   uint64 // wrong CRC
	NoReceive uint64 // UD: no receive was posted
	SendError uint64 // the port refused a datagram for good
	Reliable  datagram.Counters
}

// datagrams is the transport of UD and RD.
type datagrams struct {
	qp       *QP
	port     DatagramPort
	segments SegmentPort        // the same port, or nil
	reliable *datagram.Reliable // of RD
	counters DatagramCounters

	slots    []datagramSlot
	free     []int
	waiting  []int // slots that were not passed to the layer below
	msn      uint32
	receives []receiveSlot
	head, n  int
	in       []byte
	crc      [4]byte
	out      [MaxSGE + 4][]byte
	batch    [][]byte // parts of several datagrams

	report   []byte // error message to send once
	reportTo netip.AddrPort
}

type datagramSlot struct {
	work   Work
	length int
	parts  [MaxSGE + 1][]byte // header, then the list
	count  int
	header [ddp.UntaggedBytes]byte
	crc    [4]byte // of a datagram that is sent with others
}

// wireBytes is the length of the datagram.
func (s *datagramSlot) wireBytes() int { return ddp.UntaggedBytes + s.length + len(s.crc) }

type receiveSlot struct {
	buffer ddp.Buffer
	list   [MaxSGE][]byte // storage of the buffer's pieces
}

func newDatagram(q *QP) *datagrams {
	a := &q.attributes
	d := &datagrams{
		qp: q, slots: make([]datagramSlot, max(1, a.Sends)), receives: make([]receiveSlot, max(1, a.Receives)),
		waiting: make([]int, 0, a.Sends), in: make([]byte, datagram.MaxDatagram),
	}
	for i := range a.Sends {
		d.free = append(d.free, a.Sends-1-i)
	}
	if a.Type == RD {
		r := a.Reliable
		d.reliable = datagram.NewReliable(datagram.ReliableConfig{
			Epoch: r.Epoch, Peers: r.Peers, Stored: r.Stored, Timeout: r.Timeout, Attempts: r.Attempts,
			AckDelay: r.AckDelay, AckEvery: r.AckEvery, Deliver: d.receiveSegment,
		})
	}
	return d
}

// Counters returns the counters of a queue pair of type UD or RD.
func (q *QP) Counters() (c DatagramCounters) {
	if d, ok := q.transport.(*datagrams); ok {
		c = d.counters
		if d.reliable != nil {
			c.Reliable = d.reliable.Counters
		}
	}
	return c
}

func (d *datagrams) attach(a Attachment) error {
	if a.Datagram == nil {
		return ErrWork
	}
	d.port = a.Datagram
	d.segments, _ = a.Datagram.(SegmentPort)
	return nil
}

func (d *datagrams) maxMessage() int {
	if d.reliable != nil {
		return datagram.MaxRD
	}
	return datagram.MaxUD
}

func (d *datagrams) postReceive(id uint64, list []SGE) error {
	if d.n == d.qp.attributes.Receives {
		return ErrQueueFull
	}
	r := &d.receives[(d.head+d.n)%len(d.receives)]
	pieces, err := d.qp.pd.resolve(list, ddp.LocalWrite, r.list[:0])
	if err != nil {
		return err
	}
	r.buffer = ddp.Buffer{ID: id, Pieces: pieces}
	d.n++
	return nil
}

func (d *datagrams) postSend(w Work) error {
	if len(d.free) == 0 {
		return ErrQueueFull
	}
	if !w.Opcode.IsSend() || !w.To.IsValid() {
		return ErrWork
	}
	at := d.free[len(d.free)-1]
	s := &d.slots[at]
	pieces, err := d.qp.pd.resolve(w.List, 0, s.parts[1:1])
	if err != nil {
		return err
	}
	s.length = ddp.Length(pieces)
	if s.length > d.maxMessage() || w.Opcode.IsImmediate() && s.length != rdmap.ImmediateBytes {
		return ErrWork
	}
	d.msn++
	s.work, s.count = w, len(pieces)+1
	s.work.List = nil
	s.parts[0] = datagram.Append(s.header[:0], w.Opcode, d.msn, w.Invalidate)
	d.free = d.free[:len(d.free)-1]
	d.waiting = append(d.waiting, at)
	return nil
}

func (d *datagrams) progress() bool {
	if d.qp.state == Error {
		return d.sendReport()
	}
	sent := d.send()
	received := d.receiveSeveral()
	if d.reliable != nil {
		for {
			done, ok := d.reliable.Poll()
			if !ok {
				break
			}
			status := StatusSuccess
			if done.Err != nil {
				status = StatusUnreachable
			}
			d.finish(int(done.ID), status)
		}
	}
	return sent || received
}

// send sends one datagram, or several of UD if the port can: an error of the port drops them, as a
// network may.
func (d *datagrams) send() bool {
	if d.reliable == nil {
		return d.sendUnreliable()
	}
	d.enqueue()
	to, header, parts, ok := d.reliable.Next(d.qp.pd.device.now())
	if !ok {
		return false
	}
	accepted, err := d.transmit(to, header, parts)
	if !accepted && err == nil {
		d.reliable.Undo() // the same datagram is due again when the port has space
		return false
	}
	return true
}

func (d *datagrams) sendUnreliable() bool {
	n := d.similar()
	if n == 0 {
		return false
	}
	s := &d.slots[d.waiting[0]]
	var accepted bool
	var err error
	if n == 1 {
		accepted, err = d.transmit(s.work.To, nil, s.parts[:s.count])
	} else {
		accepted, err = d.transmitSeveral(d.waiting[:n])
	}
	if !accepted && err == nil {
		return false
	}
	for range n {
		d.finish(d.shift(), StatusSuccess)
	}
	return true
}

// similar returns the number of datagrams at the head of the queue that one call can send: to one
// peer and of one length, of which only the last may be shorter.
func (d *datagrams) similar() int {
	if len(d.waiting) < 2 || d.segments == nil {
		return min(1, len(d.waiting))
	}
	first := &d.slots[d.waiting[0]]
	bytes, most := first.wireBytes(), min(len(d.waiting), d.segments.MaxSegments())
	n, total := 1, bytes
	for n < most {
		s := &d.slots[d.waiting[n]]
		size := s.wireBytes()
		if s.work.To != first.work.To || size > bytes || total+size > datagram.MaxDatagram {
			break
		}
		n, total = n+1, total+size
		if size < bytes {
			break
		}
	}
	return n
}

func (d *datagrams) transmitSeveral(list []int) (bool, error) {
	d.batch = d.batch[:0]
	for _, at := range list {
		s := &d.slots[at]
		s.crc = datagram.CRC(nil, s.parts[:s.count])
		d.batch = append(append(d.batch, s.parts[:s.count]...), s.crc[:])
	}
	first := &d.slots[list[0]]
	accepted, err := d.segments.SendSegments(first.work.To, first.wireBytes(), d.batch)
	if err != nil {
		d.counters.SendError += uint64(len(list))
	}
	return accepted, err
}

// enqueue passes work to the reliable transport while its window is open. A closed window of one
// peer does not hold back messages to others.
func (d *datagrams) enqueue() {
	kept := d.waiting[:0]
	for _, at := range d.waiting {
		s := &d.slots[at]
		switch d.reliable.Send(s.work.To, uint64(at), s.parts[:s.count]) {
		case nil:
		case datagram.ErrWindowFull:
			kept = append(kept, at)
		default:
			d.finish(at, StatusUnreachable)
		}
	}
	d.waiting = kept
}

func (d *datagrams) shift() int {
	at := d.waiting[0]
	d.waiting = d.waiting[:copy(d.waiting, d.waiting[1:])]
	return at
}

func (d *datagrams) transmit(to netip.AddrPort, header []byte, parts [][]byte) (bool, error) {
	d.crc = datagram.CRC(header, parts)
	out := d.out[:0]
	if header != nil {
		out = append(out, header)
	}
	out = append(append(out, parts...), d.crc[:])
	accepted, err := d.port.Send(to, out)
	if err != nil {
		d.counters.SendError++
	}
	return accepted, err
}

func (d *datagrams) finish(at int, status Status) {
	w := &d.slots[at].work
	d.qp.complete(WC{ID: w.ID, Status: status, Opcode: w.Opcode, Length: d.slots[at].length})
	d.free = append(d.free, at)
}

// maxReceived is the most datagrams that a call of progress receives, so that the program answers
// several with one call but other queue pairs have their turn.
const maxReceived = 32

// receiveSeveral receives datagrams while receives are posted, and at least one if there is one. It
// reports whether there was one.
func (d *datagrams) receiveSeveral() bool {
	for i := range maxReceived {
		if !d.receive() {
			return i > 0
		}
		if d.n == 0 {
			break
		}
	}
	return true
}

func (d *datagrams) receive() bool {
	n, from, ok := d.port.Receive(d.in)
	if !ok {
		return false
	}
	b, err := datagram.Open(d.in[:n])
	switch {
	case err != nil:
		d.counters.Corrupt++
	case d.reliable == nil:
		if !d.receiveSegment(from, b) {
			d.counters.NoReceive++
		}
	case datagram.IsError(b):
		d.receiveSegment(from, b)
	default:
		_ = d.reliable.Receive(from, b, d.qp.pd.device.now())
	}
	return true
}

// receiveSegment matches a message with the oldest receive, in the order of arrival. It returns
// false if there is none.
func (d *datagrams) receiveSegment(from netip.AddrPort, b []byte) bool {
	if d.qp.state != RTS {
		return false
	}
	m, err := datagram.Parse(b)
	if err != nil {
		d.fail(from, m.MSN, err.(term.Code))
		return true
	}
	if m.Opcode == rdmap.Terminate {
		d.qp.events = append(d.qp.events, Event{Code: m.Error, Remote: true, Peer: from, MSN: m.MSN})
		return true
	}
	if d.n == 0 {
		return false
	}
	r := &d.receives[d.head]
	w := WC{ID: r.buffer.ID, Receive: true, Opcode: m.Opcode, Length: len(m.Payload), Source: from}
	var failure error
	if len(m.Payload) > r.buffer.Len() {
		w.Status, w.Length, failure = StatusLengthError, 0, term.UntaggedMessageLarge
	} else if m.Opcode.Invalidates() {
		w.Invalidated = m.Invalidate
		if v := d.qp.pd.device.memory.Invalidate(m.Invalidate, d.qp.pd.id, true); v != ddp.Allowed {
			w.Status, w.Length, w.Invalidated, failure = StatusFlushed, 0, 0, rdmap.InvalidateCode(v)
		}
	}
	if failure == nil {
		r.buffer.Scatter(0, m.Payload)
	}
	d.head, d.n = (d.head+1)%len(d.receives), d.n-1
	d.qp.complete(w)
	if failure != nil {
		d.fail(from, m.MSN, failure.(term.Code))
	}
	return true
}

// fail ends the queue pair and prepares the error message to the peer.
func (d *datagrams) fail(peer netip.AddrPort, msn uint32, code term.Code) {
	d.report, d.reportTo = datagram.AppendError(nil, msn, code), peer
	d.qp.events = append(d.qp.events, Event{Code: code, Peer: peer, MSN: msn})
	d.qp.fail()
}

// sendReport sends the error message once. It is not repeated if it is lost.
func (d *datagrams) sendReport() bool {
	if d.report == nil {
		return false
	}
	accepted, err := d.transmit(d.reportTo, nil, [][]byte{d.report})
	if accepted || err != nil {
		d.report = nil
	}
	return accepted
}

func (d *datagrams) flush() {
	used := make([]bool, len(d.slots))
	for i := range d.qp.attributes.Sends {
		used[i] = true
	}
	for _, at := range d.free {
		used[at] = false
	}
	for at := range used {
		if used[at] {
			d.finish(at, StatusFlushed)
		}
	}
	d.waiting = d.waiting[:0]
	for ; d.n > 0; d.n-- {
		d.qp.complete(WC{ID: d.receives[d.head].buffer.ID, Receive: true, Status: StatusFlushed})
		d.head = (d.head + 1) % len(d.receives)
	}
}
