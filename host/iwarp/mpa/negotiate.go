package mpa

import "github.com/nicloop/nicloop/host/iwarp/term"

// Options are what one end of a connection supports and wants.
type Options struct {
	Revision   uint8 // 1 or 2
	Markers    bool  // wants markers in the stream that it receives
	NoMarkers  bool  // cannot send markers: refuses a peer that wants them, as siw does
	CRC        bool  // wants CRC32c; it is used if either end wants it
	Enhanced   bool  // negotiates IRD, ORD and RTR; needs revision 2
	IRD, ORD   uint16
	PeerToPeer bool // initiator: it sends an RTR message first
	RTR        RTR
	Private    []byte
}

// Parameters are the result of a negotiation, from the view of one end.
type Parameters struct {
	Revision       uint8
	CRC            bool
	SendMarkers    bool
	ReceiveMarkers bool
	Enhanced       bool
	IRD, ORD       uint16
	RTR            RTR // the one message that the initiator sends first, or 0
	Private        []byte
}

// ErrRejected is the error of Complete if the responder declined the connection. The private data
// of the reply may give the reason.
type ErrRejected struct{ Private []byte }

func (*ErrRejected) Error() string { return "MPA: the responder rejected the connection" }

// Request returns the frame with which an initiator begins.
func Request(o Options) StartFrame {
	f := StartFrame{Revision: o.Revision, Markers: o.Markers, CRC: o.CRC, Private: o.Private}
	if o.Revision >= 2 && o.Enhanced {
		f.Enhanced, f.IRD, f.ORD = true, o.IRD, o.ORD
		if o.PeerToPeer {
			f.PeerToPeer, f.RTR = true, o.RTR
		}
	}
	return f
}

// Respond returns the reply that accepts a request, and the parameters of the connection. After an
// error the caller sends the frame of Reject, if at all, and closes the connection.
//
// The reply has the revision of the request if the responder supports it; a responder of revision
// 1 answers a request of revision 2 with its own, and the initiator decides (RFC 6581, section 10).
func Respond(request StartFrame, o Options) (reply StartFrame, p Parameters, err error) {
	if request.Reply || request.Markers && o.NoMarkers {
		return reply, p, term.InvalidStartFrame
	}
	p = Parameters{
		Revision: min(request.Revision, o.Revision), CRC: request.CRC || o.CRC,
		SendMarkers: request.Markers, ReceiveMarkers: o.Markers, Private: request.Private,
		IRD: o.IRD, ORD: o.ORD,
	}
	reply = StartFrame{
		Reply: true, Revision: p.Revision, Markers: o.Markers, CRC: p.CRC, Private: o.Private,
	}
	if p.Revision < 2 || !request.Enhanced || !o.Enhanced {
		return reply, p, nil
	}
	p.Enhanced, reply.Enhanced = true, true
	if request.ORD != Unlimited {
		p.IRD = min(o.IRD, request.ORD)
	}
	if request.IRD != Unlimited {
		p.ORD = min(o.ORD, request.IRD)
	}
	if request.PeerToPeer {
		if p.RTR, err = chooseRTR(request.RTR & o.RTR & allowedRTR(p.IRD)); err != nil {
			return reply, p, err
		}
	}
	reply.IRD, reply.ORD, reply.PeerToPeer, reply.RTR = p.IRD, p.ORD, request.PeerToPeer, p.RTR
	return reply, p, nil
}

// Reject returns the reply that declines a request.
func Reject(request StartFrame, private []byte) StartFrame {
	return StartFrame{
		Reply: true, Reject: true, Revision: request.Revision, CRC: request.CRC, Private: private,
	}
}

// Complete evaluates the reply to Request(o). After an error the connection must be closed; the
// codes InsufficientIRD and NoMatchingRTR are reported to the responder in a Terminate message.
func Complete(o Options, reply StartFrame) (p Parameters, err error) {
	switch {
	case !reply.Reply || reply.Revision > o.Revision || reply.Markers && o.NoMarkers:
		return p, term.InvalidStartFrame
	case reply.Reject:
		return p, &ErrRejected{reply.Private}
	case reply.Enhanced && !o.Enhanced:
		return p, term.InvalidStartFrame
	}
	p = Parameters{
		Revision: reply.Revision, CRC: reply.CRC || o.CRC, SendMarkers: reply.Markers,
		ReceiveMarkers: o.Markers, Private: reply.Private, IRD: o.IRD, ORD: o.ORD,
	}
	if !reply.Enhanced {
		return p, nil
	}
	p.Enhanced = true
	if reply.ORD != Unlimited && reply.ORD > o.IRD {
		return p, term.InsufficientIRD
	}
	if reply.IRD != Unlimited {
		p.ORD = min(o.ORD, reply.IRD)
	}
	if o.PeerToPeer {
		p.RTR, err = chooseRTR(reply.RTR & o.RTR & allowedRTR(p.ORD))
	}
	return p, err
}

// allowedRTR are the RTR messages that a limit of outstanding reads permits.
func allowedRTR(reads uint16) RTR {
	if reads == 0 {
		return RTRSend | RTRWrite
	}
	return RTRSend | RTRWrite | RTRRead
}

// chooseRTR prefers the Write, which needs neither a buffer nor a response.
func chooseRTR(common RTR) (RTR, error) {
	for _, r := range [...]RTR{RTRWrite, RTRRead, RTRSend} {
		if common&r != 0 {
			return r, nil
		}
	}
	return 0, term.NoMatchingRTR
}
