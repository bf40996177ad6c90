package rdmap

import (
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// Next returns the next segment to send: its header and the pieces of its payload, which alias
// memory of work requests. They are valid until Accepted, which the caller calls when the lower
// layer has taken or copied the segment. ok is false if there is nothing to send.
//
// Messages are not interleaved. Responses and work requests take turns, so neither a long queue of
// Sends nor a peer that reads all the time blocks the other direction.
func (s *Stream) Next() (header []byte, payload [][]byte, ok bool) {
	if s.handed {
		panic("rdmap: Next before Accepted")
	}
	if s.state == Terminating && s.sending != fromReport {
		s.segments = ddp.Segmenter{} // the message in progress is abandoned
	}
	if !s.segments.Pending() && !s.begin() {
		return nil, nil, false
	}
	h, from, to, _ := s.segments.Next()
	payload, err := s.payload(from, to)
	if err != nil {
		s.fail(err.(term.Code), nil)
		return s.Next()
	}
	s.lastOut, s.handed = h.Last, true
	return h.Append(s.header[:0]), payload, true
}

// begin chooses the next message.
func (s *Stream) begin() bool {
	last := s.sending
	s.sending = nothing
	switch {
	case s.state == Terminating:
		s.beginReport()
	case s.state != Open:
	case len(s.replies) > 0 && (last != fromReplies || !s.canStart()):
		s.beginReply()
	case s.canStart():
		s.beginSend()
	}
	return s.sending != nothing
}

// canStart reports whether the next work request may be sent. A Read waits until fewer than ORD
// are outstanding, and all requests behind it wait, too (RFC 5040, section 5.5).
func (s *Stream) canStart() bool {
	if s.next >= s.numSends {
		return false
	}
	return s.slot(s.next).work.Opcode != ReadRequest || s.pending < s.config.ORD
}

func (s *Stream) beginReport() {
	length := len(s.report.Append(s.scratch[:0]))
	h := ddp.Header{Control: Control(Terminate), QN: QueueTerminate, MSN: 1}
	s.segments, s.sending = ddp.Segment(h, length, s.config.Limit), fromReport
}

func (s *Stream) beginReply() {
	s.response = s.replies[0].read
	h := ddp.Header{Tagged: true, Control: Control(ReadResponse), STag: s.response.SinkSTag, TO: s.response.SinkTO}
	s.segments, s.sending = ddp.Segment(h, int(s.response.Length), s.config.Limit), fromReplies
}

func (s *Stream) beginSend() {
	slot := s.slot(s.next)
	w := &slot.work
	h, length := ddp.Header{Control: Control(w.Opcode)}, slot.length
	switch w.Opcode {
	case Write:
		h.Tagged, h.STag, h.TO = true, w.RemoteSTag, w.RemoteTO
	case ReadRequest:
		h.QN, h.MSN = QueueRead, s.readMSN
		s.readMSN++
		s.pending++
		r := Read{w.LocalSTag, w.LocalTO, uint32(w.Length), w.RemoteSTag, w.RemoteTO}
		length = len(r.Append(s.scratch[:0]))
	default:
		h.QN, h.MSN = QueueSend, s.sendMSN
		s.sendMSN++
		if w.Opcode.Invalidates() {
			h.Reserved = w.Invalidate
		}
	}
	s.segments, s.sending = ddp.Segment(h, length, s.config.Limit), fromSends
	s.next++
}

// payload returns the pieces of a range of the message in progress.
func (s *Stream) payload(from, to int) ([][]byte, error) {
	s.gather = s.gather[:0]
	switch {
	case from == to:
	case s.sending == fromReplies:
		// The STag may have been invalidated since the request was accepted.
		r := s.response
		b, v := s.config.Memory.Access(r.SourceSTag, s.config.Domain, r.SourceTO+uint64(from), to-from, ddp.RemoteRead)
		if v != ddp.Allowed {
			return nil, protectionCode(v, false)
		}
		s.gather = append(s.gather, b)
	case s.sending == fromReport || s.slot(s.next-1).work.Opcode == ReadRequest:
		s.gather = append(s.gather, s.scratch[from:to])
	default:
		for _, p := range s.slot(s.next - 1).work.Pieces {
			if from < len(p) && to > 0 {
				s.gather = append(s.gather, p[max(0, from):min(len(p), to)])
			}
			from, to = from-len(p), to-len(p)
		}
	}
	return s.gather, nil
}

// Accepted tells the stream that the lower layer has taken the segment of Next. A Send or Write is
// complete with its last segment: a reliable lower layer guarantees its delivery from here on (RFC
// 5040, section 5.1).
func (s *Stream) Accepted() {
	if !s.handed {
		return
	}
	s.handed = false
	if !s.lastOut {
		return
	}
	switch s.sending {
	case fromSends:
		if slot := s.slot(s.next - 1); slot.work.Opcode != ReadRequest {
			slot.done = true
		}
	case fromReplies:
		s.requests.Post(s.replies[0].buffer)
		s.replies = s.replies[:copy(s.replies, s.replies[1:])]
	case fromReport:
		s.close(s.err)
	}
}
