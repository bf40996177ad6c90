package iwarp

import (
	"errors"
	"io"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// connected is the transport of RC.
type connected struct {
	qp     *QP
	stream *rdmap.Stream
	port   StreamPort
	tx     mpa.Sender
	rx     mpa.Receiver
	out    []byte // framed bytes, of which sent were written
	sent   int
	in     []byte
	ended  bool

	sendLists, recvLists storage
}

// storage holds the resolved lists of a queue whose entries complete in order.
type storage struct {
	lists [][MaxSGE][]byte
	next  int
}

func newStorage(depth int) storage { return storage{lists: make([][MaxSGE][]byte, max(1, depth))} }

func (s *storage) at() [][]byte { return s.lists[s.next%len(s.lists)][:0] }

func newConnected(q *QP) *connected {
	a := &q.attributes
	return &connected{
		qp: q, sendLists: newStorage(a.Sends), recvLists: newStorage(a.Receives),
		stream: rdmap.NewStream(rdmap.Config{
			Memory: &q.pd.device.memory, Domain: q.pd.id, Limit: mpa.MaxULPDU,
			Sends: a.Sends, Receives: a.Receives, IRD: a.IRD, ORD: a.ORD,
		}),
	}
}

func (c *connected) attach(a Attachment) error {
	if a.Stream == nil || a.MULPDU <= ddp.UntaggedBytes || len(a.Early) > mpa.MaxFPDU {
		return ErrWork
	}
	ord := c.qp.attributes.ORD
	if a.Parameters.Enhanced && a.Parameters.ORD != mpa.Unlimited {
		ord = min(ord, int(a.Parameters.ORD))
	}
	c.stream.Configure(a.MULPDU, ord)
	c.port = a.Stream
	c.tx = mpa.Sender{Markers: a.Parameters.SendMarkers, CRC: a.Parameters.CRC}
	c.rx = mpa.Receiver{Markers: a.Parameters.ReceiveMarkers, CRC: a.Parameters.CRC}
	c.out = make([]byte, 0, mpa.MaxFPDU)
	c.in = append(make([]byte, 0, 2*mpa.MaxFPDU), a.Early...)
	return nil
}

func (c *connected) postReceive(id uint64, list []SGE) error {
	pieces, err := c.qp.pd.resolve(list, ddp.LocalWrite, c.recvLists.at())
	if err != nil {
		return err
	}
	if err := c.stream.PostReceive(ddp.Buffer{ID: id, Pieces: pieces}); err != nil {
		return workError(err)
	}
	c.recvLists.next++
	return nil
}

func (c *connected) postSend(w Work) error {
	r := rdmap.Work{
		ID: w.ID, Opcode: w.Opcode, Invalidate: w.Invalidate, RemoteSTag: w.RemoteSTag, RemoteTO: w.RemoteTO,
	}
	if w.Opcode == rdmap.ReadRequest {
		if len(w.List) != 1 || w.List[0].MR == nil || w.List[0].MR.pd != c.qp.pd {
			return ErrWork // iWARP names the sink by one STag
		}
		e := w.List[0]
		r.LocalSTag, r.LocalTO, r.Length = e.MR.stag, e.MR.base+uint64(e.Offset), e.Length
	} else {
		var err error
		if r.Pieces, err = c.qp.pd.resolve(w.List, 0, c.sendLists.at()); err != nil {
			return err
		}
	}
	if err := c.stream.PostSend(r); err != nil {
		return workError(err)
	}
	c.sendLists.next++
	return nil
}

func workError(err error) error {
	switch {
	case errors.Is(err, rdmap.ErrQueueFull):
		return ErrQueueFull
	case errors.Is(err, rdmap.ErrNotOpen):
		return ErrState
	}
	return ErrWork
}

// progress writes and reads once.
func (c *connected) progress() bool {
	if c.ended {
		return false
	}
	wrote, read := c.write(), c.read()
	c.complete()
	if c.stream.State() != rdmap.Open {
		c.end()
	}
	return wrote || read
}

func (c *connected) write() bool {
	if c.sent == len(c.out) {
		header, payload, ok := c.stream.Next()
		if !ok {
			return false
		}
		c.out, c.sent = c.tx.Append(c.out[:0], header, payload...), 0
		c.stream.Accepted()
	}
	n, err := c.port.Write(c.out[c.sent:])
	c.sent += n
	if err != nil {
		c.stream.Fail(term.StreamLost)
	}
	return n > 0
}

func (c *connected) read() bool {
	n, err := c.port.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	used := 0
	for c.stream.State() != rdmap.Closed {
		ulpdu, length, failure := c.rx.Next(c.in[used:])
		if failure != nil {
			c.stream.Fail(failure.(term.Code))
			break
		}
		if length == 0 {
			break
		}
		_ = c.stream.Receive(ulpdu) // an error is the state of the stream, too
		used += length
	}
	c.in = c.in[:copy(c.in, c.in[used:])]
	switch {
	case errors.Is(err, io.EOF) && c.rx.Close(len(c.in)) == nil:
		c.stream.Close()
	case err != nil:
		c.stream.Fail(term.StreamLost)
	}
	return n > 0
}

// complete moves completions of the stream to the completion queues.
func (c *connected) complete() {
	for {
		r, ok := c.stream.Poll()
		if !ok {
			return
		}
		w := WC{ID: r.ID, Receive: r.Receive, Opcode: r.Opcode, Length: r.Length, Invalidated: r.Invalidated}
		if r.Status != rdmap.StatusSuccess {
			w.Status = StatusFlushed
		}
		c.qp.complete(w)
	}
}

// end reports the failure of the stream once. A Terminate message may still have to be written.
func (c *connected) end() {
	if c.qp.state != Error {
		c.qp.state = Error
		if code, ok := c.stream.Err().(term.Code); ok {
			c.qp.events = append(c.qp.events, Event{Code: code, Remote: c.stream.Remote().Code == code})
		}
	}
	c.ended = c.stream.State() == rdmap.Closed && c.sent == len(c.out)
}

func (c *connected) flush() {
	c.stream.Close()
	c.complete()
}
