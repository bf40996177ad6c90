package rdmap

import (
	"errors"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// Config describes one end of a stream.
type Config struct {
	Memory   *ddp.Table
	Domain   uint32 // protection domain of the stream
	Limit    int    // MULPDU: longest segment with its header
	Sends    int    // depth of the send queue
	Receives int    // depth of the receive queue
	IRD      int    // Read Requests of the peer that are accepted at a time
	ORD      int    // Read Requests that are outstanding at a time
}

// Work is a work request of the send queue.
type Work struct {
	ID     uint64
	Opcode Opcode   // a Send variant, Write or ReadRequest
	Pieces [][]byte // data of Sends and Writes; unchanged until the request has completed

	Invalidate uint32 // STag of the peer, for the variants with Invalidate
	RemoteSTag uint32 // Write: data sink. ReadRequest: data source
	RemoteTO   uint64
	LocalSTag  uint32 // ReadRequest: data sink, with the right LocalWrite
	LocalTO    uint64
	Length     int // of a ReadRequest
}

// Status is the result of a work request or a receive.
type Status uint8

const (
	StatusSuccess Status = iota
	StatusFlushed        // the stream failed first; Stream.Err has the code
)

// A Completion is the result of a work request or a receive.
type Completion struct {
	ID          uint64
	Receive     bool
	Status      Status
	Opcode      Opcode // of a receive: opcode of the message
	Length      int    // bytes received, or read
	Invalidated uint32 // STag that the message invalidated, or 0
}

// State is the state of a stream.
type State uint8

const (
	Open State = iota
	Terminating
	Closed
)

// Errors of posting. They do not change the stream.
var (
	ErrQueueFull = errors.New("rdmap: queue full")
	ErrNotOpen   = errors.New("rdmap: stream is not open")
	ErrBadWork   = errors.New("rdmap: invalid work request")
)

// A Stream is one end of an RDMAP stream. It is not safe for concurrent use.
type Stream struct {
	config Config
	state  State
	err    error

	sends     []workSlot
	firstSend int
	numSends  int
	next      int // sends, counted from firstSend, that have been started
	sendMSN   uint32
	readMSN   uint32
	pending   int // own Read Requests without a complete response

	segments ddp.Segmenter // of the message that is being sent
	sending  source
	response Read
	lastOut  bool // the segment that Next returned ends its message
	handed   bool // Next has returned a segment that was not accepted yet
	header   [ddp.UntaggedBytes]byte
	scratch  [maxReport]byte // payload of a Read Request or a Terminate message
	gather   [][]byte

	receives *ddp.Queue
	requests *ddp.Queue // Read Requests of the peer
	reports  *ddp.Queue // Terminate message of the peer
	replies  []reply    // accepted Read Requests, in order
	received []Completion
	report   Report // to send
	remote   Report // received
}

// source is the origin of the message that is being sent.
type source uint8

const (
	nothing source = iota
	fromSends
	fromReplies
	fromReport
)

// reply is a Read Request that was accepted. Its buffer is posted again when the response was sent,
// so a peer with more than IRD outstanding requests finds no buffer.
type reply struct {
	read   Read
	buffer ddp.Buffer
}

type workSlot struct {
	work   Work
	length int
	placed int // bytes of a read response
	done   bool
}

// NewStream returns a stream in state Open.
func NewStream(c Config) *Stream {
	s := &Stream{
		config: c, sends: make([]workSlot, max(1, c.Sends)), sendMSN: 1, readMSN: 1,
		receives: ddp.NewQueue(c.Receives, ddp.InOrder), requests: ddp.NewQueue(c.IRD, ddp.InOrder),
		reports: ddp.NewQueue(1, ddp.InOrder), gather: make([][]byte, 0, 16),
		replies: make([]reply, 0, c.IRD), received: make([]Completion, 0, c.Receives),
	}
	for range c.IRD {
		s.requests.Post(ddp.Buffer{Pieces: [][]byte{make([]byte, readRequestBytes)}})
	}
	s.reports.Post(ddp.Buffer{Pieces: [][]byte{make([]byte, maxReport)}})
	return s
}

// Configure sets what is only known when the connection is established: MULPDU and the Reads that
// the peer allows. It must be called before the first call of Next.
func (s *Stream) Configure(limit, ord int) { s.config.Limit, s.config.ORD = limit, ord }

// State returns the state of the stream.
func (s *Stream) State() State { return s.state }

// Err returns why the stream failed: a term.Code, from this end or from the peer's Terminate
// message. It is nil while the stream is open and after an orderly Close.
func (s *Stream) Err() error { return s.err }

// Remote returns the Terminate message of the peer; its Code is only valid if State is Closed.
func (s *Stream) Remote() Report { return s.remote }

// Outstanding returns the number of posted work requests and receives without a polled completion.
func (s *Stream) Outstanding() (sends, receives int) {
	return s.numSends, s.receives.Posted() + len(s.received)
}

// PostReceive appends a buffer to the receive queue.
func (s *Stream) PostReceive(b ddp.Buffer) error {
	if s.state != Open {
		return ErrNotOpen
	}
	if s.receives.Posted()+len(s.received) >= s.config.Receives || !s.receives.Post(b) {
		return ErrQueueFull
	}
	return nil
}

// PostSend appends a work request to the send queue.
func (s *Stream) PostSend(w Work) error {
	if s.state != Open {
		return ErrNotOpen
	}
	if s.numSends == len(s.sends) {
		return ErrQueueFull
	}
	slot := workSlot{work: w, length: ddp.Length(w.Pieces)}
	switch {
	case w.Opcode == ReadRequest:
		slot.length = w.Length
		if w.Length < 0 || uint64(w.Length) > 0xffffffff || s.config.ORD == 0 {
			return ErrBadWork
		}
		if w.Length > 0 {
			_, v := s.config.Memory.Access(w.LocalSTag, s.config.Domain, w.LocalTO, w.Length, ddp.LocalWrite)
			if v != ddp.Allowed {
				return ErrBadWork
			}
		}
	case w.Opcode.IsImmediate():
		if slot.length != ImmediateBytes {
			return ErrBadWork
		}
	case !w.Opcode.IsSend() && w.Opcode != Write, uint64(slot.length) > 0xffffffff:
		return ErrBadWork
	}
	s.sends[(s.firstSend+s.numSends)%len(s.sends)] = slot
	s.numSends++
	return nil
}

func (s *Stream) slot(i int) *workSlot { return &s.sends[(s.firstSend+i)%len(s.sends)] }

// Poll returns the next completion. Work requests complete in the order of posting: a Send that
// was sent after a Read completes after it.
func (s *Stream) Poll() (c Completion, ok bool) {
	if len(s.received) > 0 {
		c = s.received[0]
		s.received = s.received[:copy(s.received, s.received[1:])]
		return c, true
	}
	if s.numSends > 0 && (s.slot(0).done || s.state != Open) && !s.inUse() {
		slot := s.slot(0)
		c = Completion{ID: slot.work.ID, Opcode: slot.work.Opcode}
		if slot.done {
			c.Length = slot.length
		} else {
			c.Status = StatusFlushed
		}
		*slot = workSlot{}
		s.firstSend = (s.firstSend + 1) % len(s.sends)
		s.numSends--
		s.next = max(0, s.next-1)
		return c, true
	}
	if s.state != Open {
		if b, ok := s.receives.Flush(); ok {
			return Completion{ID: b.ID, Receive: true, Status: StatusFlushed}, true
		}
	}
	return c, false
}

// inUse reports whether the oldest work request owns the segment that the caller is sending.
func (s *Stream) inUse() bool {
	return s.handed && s.sending == fromSends && s.next == 1 && !s.slot(0).done
}

// fail ends the stream after an error that this end detected in a segment.
func (s *Stream) fail(code term.Code, segment []byte) {
	if s.state != Open {
		return
	}
	s.err, s.state = code, Terminating
	s.report = Report{Code: code}
	if code.Layer() == term.LayerLLP || len(segment) < ddp.TaggedBytes {
		return
	}
	n := ddp.HeaderBytes(segment[0])
	if len(segment) < n {
		return
	}
	s.report.HasLength, s.report.Length = true, uint16(len(segment))
	s.report.Header = append([]byte(nil), segment[:n]...)
	isRead := n == ddp.UntaggedBytes && Opcode(segment[1]&opcodeMask) == ReadRequest
	if isRead && code.Layer() == term.LayerRDMAP && len(segment) >= n+readRequestBytes {
		s.report.ReadRequest = append([]byte(nil), segment[n:n+readRequestBytes]...)
	}
}

// Fail ends the stream after an error of the lower layer, such as a CRC mismatch. A Terminate
// message is sent, except if the lower layer cannot carry one (term.StreamLost).
func (s *Stream) Fail(code term.Code) {
	s.fail(code, nil)
	if code == term.StreamLost {
		s.close(s.err)
	}
}

// Close ends the stream after the lower layer was closed in an orderly way. It is an error of the
// peer if Reads are outstanding or a message is incomplete.
func (s *Stream) Close() {
	if s.state == Open && (s.pending > 0 || len(s.replies) > 0 || s.segments.Pending() || s.receives.Incomplete()) {
		s.err = term.StreamLost
	}
	s.close(s.err)
}

func (s *Stream) close(err error) {
	s.state, s.err = Closed, err
	s.segments, s.sending, s.handed = ddp.Segmenter{}, nothing, false
	s.replies = s.replies[:0]
}
