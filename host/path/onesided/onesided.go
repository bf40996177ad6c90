// Package onesided moves bytes between DMA memory of two ranks without a message: fi_write and
// fi_read of libfabric. It takes no sends; it is a path because notifications of RMA are handed to
// paths.
//
// A put has three parts, which the hardware performs in order: the put itself, for a put with data
// a notification at the target, and a get of one byte behind it. The answer of the get proves that
// the put was written.
package onesided

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/rma"
)

// An Op is a put or a get between registered memory of this rank and of a peer.
type Op struct {
	Put           bool
	Peer          int
	Local, Remote rma.NLA
	Bytes         int // 1 to rma.MaxBytes
	// Notify makes a put raise an event with Data at the peer once it was written.
	Notify bool
	Data   uint64
	// Done is called when the bytes have arrived: a get here, a put at the peer.
	Done func(err error)

	put, last rma.Handle // of the put, and of the get that ends the operation
	notified  bool
	err       error
}

// A Path moves the bytes of operations.
type Path struct {
	// Arrived is called for a notification of a peer.
	Arrived func(peer int, data uint64) error

	e          *path.Engine
	queued     []*Op // not or partly posted: the hardware had no room
	inProgress []*Op
	peers      map[rma.Peer]int
}

// Add adds the path to an engine with DMA memory.
func Add(e *path.Engine) *Path {
	p := &Path{e: e, peers: map[rma.Peer]int{}}
	for rank, peer := range e.DMA.Peers {
		p.peers[peer] = rank
	}
	e.Add(p)
	return p
}

// Start begins an operation. Operations to one peer are performed in order.
func (p *Path) Start(op *Op) error {
	p.queued = append(p.queued, op)
	return p.postQueued()
}

// IsMoving tells whether operations are in progress.
func (p *Path) IsMoving() bool { return len(p.queued)+len(p.inProgress) > 0 }

func (p *Path) postQueued() error {
	for len(p.queued) > 0 {
		op := p.queued[0]
		switch err := p.post(op); {
		case errors.Is(err, rma.ErrTryAgain):
			return nil
		case err != nil:
			return err
		}
		p.queued = p.queued[1:]
		p.inProgress = append(p.inProgress, op)
	}
	return nil
}

// post posts those parts of an operation that the hardware has not accepted yet.
func (p *Path) post(op *Op) (err error) {
	d := p.e.DMA
	peer := d.Peers[op.Peer]
	if !op.Put {
		op.last, err = d.Port.Get(peer, op.Local, op.Remote, op.Bytes, rma.Completer)
		return err
	}
	if op.put == 0 {
		if op.put, err = d.Port.Put(peer, op.Local, op.Remote, op.Bytes, rma.Requester); err != nil {
			op.put = 0
			return err
		}
	}
	if op.Notify && !op.notified {
		if _, err := d.Port.Notify(peer, op.Data, rma.Completer); err != nil {
			return err
		}
		op.notified = true
	}
	at, err := d.Scratch()
	if err != nil {
		return err
	}
	op.last, err = d.Port.Get(peer, at, op.Remote, 1, rma.Completer)
	return err
}

// Progress implements path.Progresser.
func (p *Path) Progress(drivers.Time) (bool, error) {
	before := len(p.queued)
	if before == 0 {
		return false, nil
	}
	err := p.postQueued()
	return len(p.queued) != before, err
}

// Wake implements path.Waker: what the hardware had no room for is tried again.
func (p *Path) Wake() drivers.Time {
	if len(p.queued) == 0 {
		return drivers.Never
	}
	return p.e.Proc.Now() + drivers.Microsecond
}

// Event implements path.Notified.
func (p *Path) Event(ev *rma.Event) (bool, error) {
	if ev.Handle == 0 {
		return p.arrival(ev)
	}
	for i, op := range p.inProgress {
		switch ev.Handle {
		case op.put:
			if ev.Err != nil {
				op.err = ev.Err
			}
			return true, nil
		case op.last:
			if !ev.Last && ev.Err == nil {
				return true, nil
			}
			p.inProgress = append(p.inProgress[:i], p.inProgress[i+1:]...)
			op.Done(errors.Join(op.err, ev.Err))
			return true, nil
		}
	}
	for _, op := range p.queued { // its put was posted, the rest was not
		if op.put == ev.Handle {
			op.err = errors.Join(op.err, ev.Err)
			return true, nil
		}
	}
	return false, nil
}

func (p *Path) arrival(ev *rma.Event) (bool, error) {
	if ev.Command != rma.CommandNotify || p.Arrived == nil {
		return false, nil
	}
	rank, known := p.peers[ev.Peer]
	if !known {
		return false, nil
	}
	return true, p.Arrived(rank, ev.Payload)
}

// Name implements path.Path.
func (p *Path) Name() string { return "one-sided" }

// Explain implements path.Path.
func (p *Path) Explain() string { return "no messages: puts and gets of registered memory" }

// Send implements path.Path: the path takes no message.
func (p *Path) Send(int, *path.Op) (bool, error) { return false, nil }

// Deliver implements path.Path.
func (p *Path) Deliver(from int, _ path.Header, _ []byte) error {
	return fmt.Errorf("host: a message from rank %d for the path of one-sided operations, which has none", from)
}

// Bind implements path.Path.
func (p *Path) Bind(_ *path.Op, from int, _ *path.Message) error {
	return p.Deliver(from, path.Header{}, nil)
}
