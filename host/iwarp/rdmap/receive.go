package rdmap

import (
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// Receive processes a ULPDU that the lower layer has delivered. After an error, which is a
// term.Code, the stream is Terminating and Next returns the Terminate message. ULPDUs that arrive
// in another state than Open are discarded, except for the Terminate message of the peer.
func (s *Stream) Receive(ulpdu []byte) error {
	h, payload, err := ddp.Parse(ulpdu)
	if s.state != Open {
		s.receiveLate(h, payload, err)
		return nil
	}
	if err == nil {
		err = s.receive(h, payload)
	}
	if err != nil {
		s.fail(err.(term.Code), ulpdu)
	}
	return err
}

// receiveLate handles two ends that detect errors at the same time: the second Terminate message
// is recorded, but not answered.
func (s *Stream) receiveLate(h ddp.Header, payload []byte, err error) {
	if err != nil {
		return
	}
	if o, err := ParseControl(h); err == nil && o == Terminate {
		_ = s.receiveReport(h, payload)
	}
}

func (s *Stream) receive(h ddp.Header, payload []byte) error {
	o, err := ParseControl(h)
	if err != nil {
		return err
	}
	switch {
	case o == Write:
		return s.placeTagged(h, payload, ddp.RemoteWrite)
	case o == ReadResponse:
		return s.receiveResponse(h, payload)
	case o == ReadRequest:
		return s.receiveRequest(h, payload)
	case o == Terminate:
		return s.receiveReport(h, payload)
	}
	return s.receiveSend(h, payload)
}

// placeTagged copies a tagged segment into memory with a right. An empty segment touches no memory
// and its STag is not checked, so that an empty Write can serve as RTR (RFC 6581, section 9.2).
func (s *Stream) placeTagged(h ddp.Header, payload []byte, right ddp.Rights) error {
	if len(payload) == 0 {
		return nil
	}
	b, v := s.config.Memory.Access(h.STag, s.config.Domain, h.TO, len(payload), right)
	if v != ddp.Allowed {
		return protectionCode(v, true)
	}
	copy(b, payload)
	return nil
}

// receiveResponse places a segment of a Read Response into the sink of the Read that it answers.
// Responses arrive in the order of the requests (RFC 5040, section 5.5).
func (s *Stream) receiveResponse(h ddp.Header, payload []byte) error {
	slot, err := s.outstandingRead(h, len(payload))
	if err != nil {
		return err
	}
	if err := s.placeTagged(h, payload, ddp.LocalWrite); err != nil {
		return err
	}
	slot.placed += len(payload)
	if slot.placed == slot.length {
		slot.done = true
		s.pending--
	}
	return nil
}

// outstandingRead returns the oldest Read without a complete response, if a segment continues it.
func (s *Stream) outstandingRead(h ddp.Header, n int) (*workSlot, error) {
	for i := range s.next {
		slot := s.slot(i)
		w := &slot.work
		if w.Opcode != ReadRequest || slot.done {
			continue
		}
		end := slot.placed + n
		switch {
		case w.LocalSTag != h.STag:
			return nil, term.TaggedInvalidSTag
		case h.TO != w.LocalTO+uint64(slot.placed), end > slot.length, h.Last != (end == slot.length):
			return nil, term.TaggedBaseBounds
		}
		return slot, nil
	}
	return nil, term.UnexpectedOpcode // no Read is outstanding
}

func (s *Stream) receiveRequest(h ddp.Header, payload []byte) error {
	if err := s.requests.Place(h, payload); err != nil {
		return err
	}
	for {
		m, ok := s.requests.Deliver()
		if !ok {
			return nil
		}
		r, err := ParseRead(m.Buffer.Pieces[0][:m.Length])
		if err != nil {
			return err
		}
		if r.Length > 0 {
			_, v := s.config.Memory.Access(r.SourceSTag, s.config.Domain, r.SourceTO, int(r.Length), ddp.RemoteRead)
			if v != ddp.Allowed {
				return protectionCode(v, false)
			}
		}
		s.replies = append(s.replies, reply{r, m.Buffer})
	}
}

func (s *Stream) receiveSend(h ddp.Header, payload []byte) error {
	if err := s.receives.Place(h, payload); err != nil {
		return err
	}
	for {
		m, ok := s.receives.Deliver()
		if !ok {
			return nil
		}
		c := Completion{
			ID: m.Buffer.ID, Receive: true, Opcode: Opcode(m.Header.Control & opcodeMask), Length: m.Length,
		}
		err := s.deliver(&c, m.Header.Reserved)
		if err != nil {
			c.Status, c.Length = StatusFlushed, 0
		}
		s.received = append(s.received, c)
		if err != nil {
			return err
		}
	}
}

// deliver applies the effects of a complete message.
func (s *Stream) deliver(c *Completion, stag uint32) error {
	if c.Opcode.IsImmediate() && c.Length != ImmediateBytes {
		return term.CatastrophicStream
	}
	if !c.Opcode.Invalidates() {
		return nil
	}
	if v := s.config.Memory.Invalidate(stag, s.config.Domain, true); v != ddp.Allowed {
		return InvalidateCode(v)
	}
	c.Invalidated = stag
	return nil
}

// InvalidateCode returns the code for an STag that cannot be invalidated: a protection error if the
// peer has no access to its region, otherwise an operation error.
func InvalidateCode(v ddp.Violation) term.Code {
	if v == ddp.NotAssociated || v == ddp.NoRight {
		return term.ProtectNotInvalidated
	}
	return term.InvalidateFailed
}

func (s *Stream) receiveReport(h ddp.Header, payload []byte) error {
	if err := s.reports.Place(h, payload); err != nil {
		return err
	}
	m, ok := s.reports.Deliver()
	if !ok {
		return nil
	}
	r, err := ParseReport(m.Buffer.Pieces[0][:m.Length])
	if err != nil {
		return err
	}
	s.remote = r
	if s.state == Open {
		s.close(r.Code)
	}
	return nil
}
