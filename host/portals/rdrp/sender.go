package rdrp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
)

func (e *Endpoint) plan(total, buffer uint64) plan {
	c := &e.config
	return plan{total: total, first: c.FirstChunk, chunk: c.Chunk, buffer: buffer, inFlight: uint64(c.InFlight)}
}

// Send starts a send. The data must not change until it is done. If resources are exhausted, it
// returns portals.NoSpace and changes nothing.
func (e *Endpoint) Send(m Message) (ID, error) {
	switch {
	case m.Tag < 0:
		return 0, fmt.Errorf("rdrp: send with tag %d: expected 0 or more", m.Tag)
	case m.Start > e.config.MemoryLength || m.Length > e.config.MemoryLength-m.Start:
		return 0, fmt.Errorf("rdrp: send of %d bytes at %#x: the address space has %d bytes",
			m.Length, m.Start, e.config.MemoryLength)
	}
	id, err := e.add(request{Message: m, isSend: true, state: eagerWait})
	if err != nil {
		return 0, err
	}
	if err := e.start(id); err != nil {
		e.drop(id)
		return 0, err
	}
	return id, nil
}

func (e *Endpoint) start(id ID) error {
	r := &e.requests[id]
	r.bits = matchBits(r.Comm, inOrder, r.Tag)
	r.status = Status{Tag: r.Tag, Length: r.Length, Source: e.ni.Self().NID}
	p := e.plan(r.Length, 0)
	if p.count() > 0 {
		if err := e.expose(r, &p); err != nil {
			return err
		}
		r.state = sendWait
	}
	e.plantSequence(r)
	if err := e.put(id, r); err != nil {
		return errors.Join(err, e.hide(r))
	}
	switch {
	case r.state == sendWait && e.mistake == DoneEarly:
		r.state = done
	case r.state == sendWait:
		e.sending = append(e.sending, id)
	}
	return nil
}

// put sends the first chunk. The events of it that the endpoint reads are SEND and ACK, or only
// SEND of the layer, which knows then that the message was accepted.
func (e *Endpoint) put(id ID, r *request) (err error) {
	q := portals.Request{
		MD: e.md, LocalOffset: r.Start, Length: min(r.Length, e.config.FirstChunk), Target: portals.Rank(r.Peer),
		PT: e.config.Messages, MatchBits: r.bits, HdrData: r.Length, UserPtr: uint64(id), Ack: portals.FullAckReq,
	}
	r.events = 2
	if e.config.Layer != nil {
		q.Ack, r.events = portals.NoAckReq, 1
		return e.config.Layer.Put(&q)
	}
	_, err = e.ni.Put(&q)
	return err
}

func (e *Endpoint) nextOrigin(ev *portals.Event) error {
	if e.config.Layer != nil {
		return e.config.Layer.OriginGet(ev)
	}
	return e.ni.EQGet(e.origin, ev)
}

// expose takes a nonce and appends the entries for the gets. They are linked before the put leaves.
func (e *Endpoint) expose(r *request, p *plan) (err error) {
	if r.ct, err = e.ni.CTAlloc(); err != nil {
		return err
	}
	if n := len(e.nonces); n > 0 {
		r.bits = matchBits(r.Comm, e.nonces[n-1], r.Tag)
		e.nonces = e.nonces[:n-1]
		e.plantNonceEarly(r)
		r.entry, err = e.appendGet(r, 0, r.Length, 0)
	} else {
		err = e.exposeChunks(r, p)
	}
	if err != nil {
		return errors.Join(err, e.hide(r))
	}
	return nil
}

// exposeChunks appends an entry for one use for each chunk of a message without a nonce.
func (e *Endpoint) exposeChunks(r *request, p *plan) error {
	if e.mistake == ManageLocal {
		entry, err := e.appendGet(r, p.first, r.Length-p.first, portals.MEManageLocal)
		r.entry = entry
		return err
	}
	for i := range p.count() {
		entry, err := e.appendGet(r, p.offset(i), p.size(i), portals.MEUseOnce)
		if err != nil {
			return err
		}
		r.entries = append(r.entries, entry)
	}
	return nil
}

func (e *Endpoint) appendGet(r *request, offset, length uint64, o portals.MEOptions) (portals.ME, error) {
	return e.ni.MEAppend(e.config.Gets, &portals.MatchEntry{
		Start: r.Start + offset, Length: length, CT: r.ct, UID: portals.UIDAny, MatchID: portals.Rank(r.Peer),
		MatchBits: r.bits, MinFree: 1, Options: o | portals.MEOpGet | portals.MEEventCTComm,
	}, portals.PriorityList)
}

// hide takes back what expose did. Entries for one use that are used up have stale handles.
func (e *Endpoint) hide(r *request) error {
	if r.ct == 0 {
		return nil
	}
	if r.entry != 0 && (e.mistake != ManageLocal || nonceOf(r.bits) != inOrder) {
		if err := e.ni.MEUnlink(r.entry); err != nil {
			return err
		}
	}
	for _, entry := range r.entries {
		if err := e.ni.MEUnlink(entry); err != nil && !errors.Is(err, portals.ArgInvalid) {
			return err
		}
	}
	if nonce := nonceOf(r.bits); nonce != inOrder && e.mistake != NonceEarly {
		e.nonces = append(e.nonces, nonce)
	}
	return e.ni.CTFree(r.ct)
}

// readOrigin reads the events of puts: SEND ends an eager send, a failure ends every send.
func (e *Endpoint) readOrigin() error {
	for ev := (portals.Event{}); ; {
		if err := e.nextOrigin(&ev); err == portals.EQEmpty {
			return nil
		} else if err != nil {
			return fmt.Errorf("rdrp: events of puts: %w", err)
		}
		r := &e.requests[ev.UserPtr]
		r.events--
		switch {
		case ev.Fail != portals.FailNone && r.state >= done:
			return fmt.Errorf("rdrp: a message to rank %d was lost: %v with %v after its send was done",
				r.Peer, ev.Kind, ev.Fail)
		case ev.Fail != portals.FailNone:
			r.status.Fail = ev.Fail
		}
		if r.state == eagerWait && (ev.Kind == portals.EventSend || ev.Fail != portals.FailNone) {
			r.state = done
		}
		e.dropTaken(ID(ev.UserPtr))
	}
}

// endSends ends the sends whose gets have all been counted, and those whose put has failed.
func (e *Endpoint) endSends() (err error) {
	e.sending = slices.DeleteFunc(e.sending, func(id ID) bool {
		r := &e.requests[id]
		p := e.plan(r.Length, 0)
		fail, reached, e1 := e.readCounter(r.ct, p.count())
		if e1 != nil || !reached && r.status.Fail == portals.FailNone {
			err = errors.Join(err, e1)
			return false
		}
		err = errors.Join(err, e.hide(r))
		r.state, r.status.Fail = done, max(r.status.Fail, fail)
		return true
	})
	return err
}
