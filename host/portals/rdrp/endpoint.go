package rdrp

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rportals"
)

// Config describes an endpoint. FirstChunk, Chunk and Nonces are the same in all processes.
type Config struct {
	Messages, Gets uint8  // portal table entries that the endpoint allocates
	FirstChunk     uint64 // bytes that travel with the header; longer messages are fetched
	Chunk          uint64 // bytes of a get
	InFlight       int    // gets of a message that may be outstanding: c in the paper
	Nonces         int    // values besides 0, at most 65,535
	Requests       int    // sends and receives that were not taken
	Bounces        int    // overflow buffers of FirstChunk bytes
	BounceBase     uint64 // their address
	MemoryLength   uint64 // the address space begins at 0
	// Layer repeats messages that find no overflow buffer; it protects the entry Messages. Its
	// interface must allow operations for the gets besides. nil: such messages are lost.
	Layer *rportals.Layer
}

func (c *Config) validate() error {
	switch {
	case c.Messages == c.Gets:
		return fmt.Errorf("rdrp: messages and gets share portal table entry %d", c.Gets)
	case c.FirstChunk < 1 || c.Chunk < 1 || c.InFlight < 1 || c.Requests < 1 || c.Bounces < 0:
		return fmt.Errorf("rdrp: expected at least 1 for first chunk, chunk, gets in flight and requests")
	case c.Nonces < 0 || c.Nonces > int(nonceMask>>nonceShift):
		return fmt.Errorf("rdrp: %d nonces: expected 0 to %d", c.Nonces, nonceMask>>nonceShift)
	}
	return nil
}

// A Message is the argument of a send or a receive.
type Message struct {
	Peer          uint32 // rank; of a receive also portals.RankAny
	Comm          uint16
	Tag           int32 // of a receive also AnyTag
	Start, Length uint64
}

// A Status describes a request that is done.
type Status struct {
	Source      uint32
	Tag         int32
	Length      uint64 // of the message
	Fail        portals.Fail
	IsTruncated bool // the receive buffer is shorter than the message
	IsCancelled bool
}

// ID names a request until Take has returned its status.
type ID uint32

type state uint8

const (
	unused    state = iota
	eagerWait       // the put was not sent
	sendWait        // the receiver has not fetched all chunks
	waitMatch       // no message matches
	waitGets        // chunks are missing; the gets may wait for resources
	done
	taken // events of its put were not read
)

type request struct {
	Message
	state   state
	isSend  bool
	events  int // of the put, SEND and ACK, that were not read
	status  Status
	bits    uint64 // match bits with the nonce
	entry   portals.ME
	entries []portals.ME // of a send with the reserved nonce: one per chunk
	ct      portals.CT
	md      portals.MD
	posted  uint64 // gets
}

// An Endpoint has the sends and receives of a process.
type Endpoint struct {
	ni       *portals.NI
	config   Config
	origin   portals.EQ // SEND and ACK of puts
	arrivals portals.EQ // PUT and PUT_OVERFLOW
	md       portals.MD // of puts
	memory   portals.Memory
	waiting  int      // receives that no message has matched
	hasFresh bool     // an entry was appended since Messages was last known to be enabled
	nonces   []uint16 // free ones
	requests []request
	free     []ID
	sending  []ID // in sendWait
	fetching []ID // in waitGets, in the order in which they matched

	mistake   Mistake
	sequences map[uint32][2]int32 // mistake SequenceNumbers: sends and receives by peer
}

// New opens an endpoint over an interface and its memory: it allocates both portal table entries
// and posts the overflow buffers.
func New(ni *portals.NI, memory portals.Memory, c Config) (*Endpoint, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &Endpoint{ni: ni, memory: memory, config: c}
	for i := c.Nonces; i > 0; i-- {
		e.nonces = append(e.nonces, uint16(i))
	}
	if err := e.open(); err != nil {
		return nil, err
	}
	for i := range c.Bounces {
		if err := e.postBounce(c.BounceBase + uint64(i)*c.FirstChunk); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *Endpoint) open() error {
	c := &e.config
	if _, err := e.ni.PTAlloc(0, 0, int(c.Gets)); err != nil {
		return err
	}
	if c.Layer != nil {
		return c.Layer.PTAlloc(c.Messages, c.Requests)
	}
	var errs [4]error
	e.origin, errs[0] = e.ni.EQAlloc(2 * c.Requests)
	e.arrivals, errs[1] = e.ni.EQAlloc(c.Requests)
	e.md, errs[2] = e.ni.MDBind(portals.MemoryDescriptor{Length: c.MemoryLength, EQ: e.origin})
	_, errs[3] = e.ni.PTAlloc(0, e.arrivals, int(c.Messages))
	return errors.Join(errs[:]...)
}

// add allocates a request.
func (e *Endpoint) add(r request) (ID, error) {
	if len(e.requests)-len(e.free) >= e.config.Requests {
		return 0, fmt.Errorf("%w: %d requests were not taken", portals.NoSpace, e.config.Requests)
	}
	if n := len(e.free); n > 0 {
		id := e.free[n-1]
		e.free = e.free[:n-1]
		e.requests[id] = r
		return id, nil
	}
	e.requests = append(e.requests, r)
	return ID(len(e.requests) - 1), nil
}

func (e *Endpoint) drop(id ID) {
	e.requests[id] = request{}
	e.free = append(e.free, id)
}

// Take returns the status of a request that is done, and forgets it.
func (e *Endpoint) Take(id ID) (s Status, isDone bool) {
	if int(id) >= len(e.requests) || e.requests[id].state != done {
		return s, false
	}
	r := &e.requests[id]
	s = r.status
	r.state = taken
	e.dropTaken(id)
	return s, true
}

// dropTaken forgets a request whose status was taken, unless an event will still name it.
func (e *Endpoint) dropTaken(id ID) {
	if r := &e.requests[id]; r.state == taken && r.events == 0 {
		e.drop(id)
	}
}

// Progress reads events and counters, ends requests, and posts the gets of messages that matched.
// Without new packets a second call changes nothing.
func (e *Endpoint) Progress() error {
	var err error
	if e.config.Layer != nil {
		err = e.config.Layer.Progress()
	}
	err = errors.Join(err, e.readOrigin(), e.readArrivals(), e.endSends(), e.fetch())
	if e.ni.PTEnabled(e.config.Messages) {
		e.hasFresh = false
	}
	return err
}

// readCounter reports whether a counter has counted n gets, and whether one of them failed.
func (e *Endpoint) readCounter(ct portals.CT, n uint64) (fail portals.Fail, reached bool, err error) {
	v, err := e.ni.CTGet(ct)
	if v.Failure > 0 {
		fail = portals.FailDropped // a counting event does not carry the cause
	}
	return fail, v.Success+v.Failure >= n, err
}
