package host

import (
	"errors"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/match"
)

// ErrTruncated: a message was longer than the buffer of the receive it matched.
var ErrTruncated = errors.New("host: message longer than the receive buffer")

// Wildcards of a receive.
const (
	AnySource = match.Any
	AnyTag    = match.Any
)

// What a message's header has room for.
const (
	MaxTag   = math.MaxInt32
	MaxBytes = math.MaxUint32
)

// Communicators keep the collectives' messages apart from the application's.
const (
	commWorld      = 0
	commCollective = 1
)

// Status says what a receive got.
type Status struct {
	Source int
	Tag    int
	Bytes  int
}

// A Request is a send or a receive under way. Its buffer belongs to it until it
// is done.
type Request struct {
	rank    *Rank
	receive bool
	env     match.Envelope // a receive's pattern; of a send, Source is the destination
	buf     []byte
	done    bool
	err     error
	status  Status

	kind          uint8 // of a send: eager, or a message of a rendezvous
	sent, packets int   // of a send
	delayed       bool
	held, void    bool      // of an RTS: not to be sent yet, not at all
	long          *transfer // of a rendezvous under way
	next          *Request  // behind it, to the same destination
}

// Done tells whether the request has finished, without making progress.
func (q *Request) Done() bool { return q.done }

// Isend begins to send data with tag to rank dst. It is done when its last
// packet has been handed to the NIC.
func (r *Rank) Isend(dst, tag int, data []byte) (*Request, error) {
	return r.isend(dst, tag, commWorld, data)
}

func (r *Rank) isend(dst, tag int, comm uint16, data []byte) (*Request, error) {
	return r.begin(dst, tag, comm, data, false)
}

// begin begins a send. A synchronous one is done when a receive has matched it.
func (r *Rank) begin(dst, tag int, comm uint16, data []byte, synchronous bool) (*Request, error) {
	if err := r.checkPeer(dst); err != nil {
		return nil, err
	}
	if tag < 0 || tag > MaxTag {
		return nil, fmt.Errorf("%w: tag %d: a send needs one of 0 to %d", drivers.ErrConfig, tag, MaxTag)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: message of %d bytes: expected at most %d", drivers.ErrConfig, len(data), MaxBytes)
	}
	r.proc.Spend(r.cost.Start)
	q := r.requests.get()
	*q = Request{rank: r, env: match.Envelope{Source: int32(dst), Tag: int32(tag), Comm: comm}, buf: data, packets: Packets(len(data))}
	r.stats.MessagesSent++
	r.stats.BytesSent += uint64(len(data))
	switch {
	case dst == r.id:
		r.sendSelf(q, synchronous)
		return q, nil
	case r.isLocal(dst):
		r.sendLocal(dst, q, synchronous)
		return q, nil
	case len(data) > EagerMax || synchronous:
		return q, r.sendLong(dst, q)
	}
	return q, r.enqueue(dst, q)
}

// Irecv begins to receive the first message that matches source and tag.
func (r *Rank) Irecv(source, tag int, buf []byte) (*Request, error) {
	return r.irecv(source, tag, commWorld, buf)
}

func (r *Rank) irecv(source, tag int, comm uint16, buf []byte) (*Request, error) {
	if err := r.checkPattern(source, tag); err != nil {
		return nil, err
	}
	r.proc.Spend(r.cost.Start)
	q := r.requests.get()
	*q = Request{rank: r, receive: true, env: match.Envelope{Source: int32(source), Tag: int32(tag), Comm: comm}, buf: buf}
	if e, m, ok := r.match.Post(q.env, q); ok {
		r.proc.Spend(r.cost.Match)
		return q, r.bind(q, e, m)
	}
	return q, nil
}

// checkPattern checks what a receive names.
func (r *Rank) checkPattern(source, tag int) error {
	if tag != AnyTag && (tag < 0 || tag > MaxTag) {
		return fmt.Errorf("%w: tag %d: a receive needs one of 0 to %d, or AnyTag", drivers.ErrConfig, tag, MaxTag)
	}
	if source == AnySource {
		return nil
	}
	return r.checkPeer(source)
}

func (r *Rank) checkPeer(peer int) error {
	if peer >= 0 && peer < r.size {
		return nil
	}
	return fmt.Errorf("%w: rank %d talks to rank %d: expected one below %d", drivers.ErrConfig, r.id, peer, r.size)
}

// Wait makes progress until q is done.
func (r *Rank) Wait(q *Request) (Status, error) {
	r.waiting, r.over = q, q.done
	for !r.over {
		if err := r.await(); err != nil {
			return Status{}, err
		}
	}
	r.waiting = nil
	return q.status, q.err
}

// Waitall makes progress until every request is done; it gives the first error.
func (r *Rank) Waitall(list []*Request) (err error) {
	for _, q := range list {
		if _, e := r.Wait(q); err == nil {
			err = e
		}
	}
	return err
}

// Test makes progress once and tells whether q is done.
func (r *Rank) Test(q *Request) (Status, bool, error) {
	if !q.done {
		r.proc.Spend(r.cost.Poll)
		r.proc.Sync()
		if _, err := r.progress(); err != nil {
			return Status{}, false, err
		}
	}
	if !q.done {
		return Status{}, false, nil
	}
	return q.status, true, q.err
}

// Waitany makes progress until one of the requests is done and gives its index.
// Requests that are nil are passed over.
func (r *Rank) Waitany(list []*Request) (int, Status, error) {
	for {
		for i, q := range list {
			if q != nil && q.done {
				r.waiting = nil
				return i, q.status, q.err
			}
			if q != nil {
				r.waiting = q
			}
		}
		if r.waiting == nil {
			return -1, Status{}, fmt.Errorf("%w: no request to wait for", drivers.ErrConfig)
		}
		if _, err := r.step(); err != nil {
			return -1, Status{}, err
		}
	}
}

// Send sends data with tag to rank dst and returns when its buffer may be reused.
func (r *Rank) Send(dst, tag int, data []byte) error {
	return r.send(dst, tag, commWorld, data)
}

func (r *Rank) send(dst, tag int, comm uint16, data []byte) error {
	q, err := r.isend(dst, tag, comm, data)
	if err == nil {
		_, err = r.waitFor(q)
	}
	return err
}

// waitFor is Wait for a request that nobody else knows. A rendezvous might.
func (r *Rank) waitFor(q *Request) (Status, error) {
	st, err := r.Wait(q)
	if err == nil && len(q.buf) <= EagerMax {
		r.requests.put(q)
	}
	return st, err
}

// Recv receives the first message that matches source and tag into buf.
func (r *Rank) Recv(source, tag int, buf []byte) (Status, error) {
	return r.recv(source, tag, commWorld, buf)
}

func (r *Rank) recv(source, tag int, comm uint16, buf []byte) (Status, error) {
	q, err := r.irecv(source, tag, comm, buf)
	if err != nil {
		return Status{}, err
	}
	return r.waitFor(q)
}

// Probe waits until a message that matches source and tag can be received, and
// says what it is.
func (r *Rank) Probe(source, tag int) (Status, error) {
	for {
		if st, ok, err := r.Iprobe(source, tag); ok || err != nil {
			return st, err
		}
		if _, err := r.step(); err != nil {
			return Status{}, err
		}
	}
}

// Iprobe is Probe without waiting: what it does not find has not come yet.
func (r *Rank) Iprobe(source, tag int) (Status, bool, error) {
	if err := r.checkPattern(source, tag); err != nil {
		return Status{}, false, err
	}
	r.proc.Spend(r.cost.Poll)
	r.proc.Sync()
	if _, err := r.progress(); err != nil {
		return Status{}, false, err
	}
	e, m, ok := r.match.Probe(match.Envelope{Source: int32(source), Tag: int32(tag), Comm: commWorld})
	if !ok {
		return Status{}, false, nil
	}
	return Status{Source: int(e.Source), Tag: int(e.Tag), Bytes: int(m.length)}, true, nil
}
