package iwarp

import (
	"net/netip"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// QPType is the type of a queue pair.
type QPType uint8

const (
	RC QPType = iota // reliable connection
	UD               // unreliable datagrams
	RD               // reliable datagrams
)

// State is the state of a queue pair.
type State uint8

const (
	Reset State = iota
	Init
	RTR // ready to receive
	RTS // ready to send
	Error
)

// StreamPort is a connection after the start-up phase of MPA. Both methods return 0 and no error
// if they would block; Read returns io.EOF when the peer has closed the connection.
type StreamPort interface {
	Read(b []byte) (int, error)
	Write(b []byte) (int, error)
}

// DatagramPort is a bound socket. Neither method blocks.
type DatagramPort interface {
	// Send sends the parts as one datagram. It returns false if it cannot take it now.
	Send(to netip.AddrPort, parts [][]byte) (bool, error)
	Receive(b []byte) (n int, from netip.AddrPort, ok bool)
}

// SegmentPort is a DatagramPort that sends several datagrams to one peer in one call.
type SegmentPort interface {
	DatagramPort
	// SendSegments sends the parts, joined, as datagrams of the given number of bytes; the last one
	// may be shorter. Either all are accepted or none. It returns false if it cannot take them now.
	SendSegments(to netip.AddrPort, bytes int, parts [][]byte) (bool, error)
	// MaxSegments is the most datagrams of a call; below 2, SendSegments must not be called.
	MaxSegments() int
}

// QPAttributes describe a queue pair.
type QPAttributes struct {
	Type            QPType
	SendCQ, RecvCQ  *CQ
	Sends, Receives int // depths
	IRD, ORD        int // RC
	Reliable        ReliableAttributes
}

// ReliableAttributes configure the transport of RD; see datagram.ReliableConfig.
type ReliableAttributes struct {
	Epoch         uint32 // must increase when an address is used again
	Peers, Stored int
	Timeout       time.Duration
	Attempts      int
	AckDelay      time.Duration
	AckEvery      int
}

// Attachment holds the port that RTS needs and, for RC, the result of the start-up phase.
type Attachment struct {
	Stream     StreamPort
	Parameters mpa.Parameters
	MULPDU     int
	Early      []byte // bytes behind the start-up frame that were read with it

	Datagram DatagramPort
}

// Work is a work request of the send queue.
type Work struct {
	ID         uint64
	Opcode     rdmap.Opcode
	List       []SGE
	To         netip.AddrPort // UD, RD: address handle
	Invalidate uint32
	RemoteSTag uint32 // Write, ReadRequest
	RemoteTO   uint64
}

// Event is an asynchronous event of a queue pair.
type Event struct {
	Code   term.Code
	Remote bool           // the peer has detected the error
	Peer   netip.AddrPort // UD, RD
	MSN    uint32         // UD, RD: message in which the error was detected
}

// transport is the part of a queue pair that depends on its type.
type transport interface {
	attach(Attachment) error
	postSend(Work) error
	postReceive(id uint64, list []SGE) error
	progress() bool
	flush()
}

// QP is a queue pair.
type QP struct {
	pd         *PD
	attributes QPAttributes
	state      State
	transport  transport
	events     []Event
	sends      int // work requests whose completion was not polled
	receives   int
}

// CreateQP returns a queue pair in state Reset.
func (p *PD) CreateQP(a QPAttributes) (*QP, error) {
	if a.SendCQ == a.RecvCQ {
		if a.SendCQ.reserved+a.Sends+a.Receives > len(a.SendCQ.ring) {
			return nil, ErrCQDepth
		}
	} else if a.SendCQ.reserved+a.Sends > len(a.SendCQ.ring) || a.RecvCQ.reserved+a.Receives > len(a.RecvCQ.ring) {
		return nil, ErrCQDepth
	}
	a.SendCQ.reserved += a.Sends
	a.RecvCQ.reserved += a.Receives
	q := &QP{pd: p, attributes: a}
	q.reset()
	p.device.qps = append(p.device.qps, q)
	return q, nil
}

func (q *QP) reset() {
	q.state = Reset
	if q.attributes.Type == RC {
		q.transport = newConnected(q)
	} else {
		q.transport = newDatagram(q)
	}
}

// State returns the state.
func (q *QP) State() State { return q.state }

// Event removes and returns the oldest asynchronous event.
func (q *QP) Event() (e Event, ok bool) {
	if len(q.events) == 0 {
		return e, false
	}
	e, q.events = q.events[0], q.events[1:]
	return e, true
}

// Modify changes the state. The attachment is only used for RTS.
func (q *QP) Modify(to State, a Attachment) error {
	switch {
	case to == Reset:
		q.transport.flush()
		q.reset()
	case to == Error:
		q.fail()
	case to == RTS && q.state == RTR:
		if err := q.transport.attach(a); err != nil {
			return err
		}
		q.state = RTS
	case to == q.state+1 && to < RTS:
		q.state = to
	default:
		return ErrState
	}
	return nil
}

// fail changes the state to Error and completes everything that is posted.
func (q *QP) fail() {
	if q.state == Error {
		return
	}
	q.state = Error
	q.transport.flush()
}

// complete adds a completion to its queue.
func (q *QP) complete(w WC) {
	w.QP = q
	if w.Receive {
		q.attributes.RecvCQ.push(w)
	} else {
		q.attributes.SendCQ.push(w)
	}
}

func (q *QP) progress() bool { return (q.state == RTS || q.state == Error) && q.transport.progress() }

// PostSend appends a work request to the send queue. A request occupies the queue until its
// completion was polled, which is why a completion queue cannot overflow.
func (q *QP) PostSend(w Work) error {
	if q.state != RTS {
		return ErrState
	}
	if q.sends == q.attributes.Sends {
		return ErrQueueFull
	}
	if err := q.transport.postSend(w); err != nil {
		return err
	}
	q.sends++
	return nil
}

// PostReceive appends a buffer to the receive queue.
func (q *QP) PostReceive(id uint64, list []SGE) error {
	if q.state == Reset || q.state == Error {
		return ErrState
	}
	if q.receives == q.attributes.Receives {
		return ErrQueueFull
	}
	if err := q.transport.postReceive(id, list); err != nil {
		return err
	}
	q.receives++
	return nil
}
