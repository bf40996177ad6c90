package host

import "fmt"

// Waiting says what a rank waits for: one link of a wait-for chain.
type Waiting struct {
	For  string // "", "credits", "message" or "rendezvous"
	Peer int    // AnySource for a receive from anybody
	Tag  int
	Sent int // packets of the message that have left, of Of
	Of   int
	// State is that of a rendezvous, in words.
	State string
}

// Waiting returns what the rank waits for, or what it waited for when the run was ended.
func (r *Rank) Waiting() Waiting {
	if r.lastWait != nil {
		return *r.lastWait
	}
	q := r.waiting
	if q != nil && q.schedule != nil {
		q = q.schedule.blocker()
	}
	switch {
	case q == nil && r.lingers && r.Owes():
		return r.owing()
	case q == nil:
		return Waiting{}
	case q.long != nil && !q.long.end.Waits():
		return Waiting{For: "rendezvous", Peer: q.long.end.Peer(), Tag: int(q.env.Tag), Sent: q.long.end.Moved(), Of: q.long.end.Bytes(), State: q.long.end.String()}
	case q.put:
		return Waiting{For: "rendezvous", Peer: int(q.env.Source), Tag: int(q.env.Tag), Of: len(q.buf), State: "an eager message whose bytes have not left its buffer"}
	case q.receive:
		return Waiting{For: "message", Peer: int(q.env.Source), Tag: int(q.env.Tag)}
	}
	return Waiting{For: "credits", Peer: int(q.env.Source), Tag: int(q.env.Tag), Sent: q.sent, Of: q.packets}
}

func (w Waiting) String() string {
	switch w.For {
	case "credits":
		return fmt.Sprintf("send to rank %d (tag %d): %d of %d packets sent, waits for a credit", w.Peer, w.Tag, w.Sent, w.Of)
	case "rendezvous":
		return fmt.Sprintf("rendezvous with rank %d (tag %d): %d of %d bytes moved", w.Peer, w.Tag, w.Sent, w.Of)
	case "message":
		if w.Peer == AnySource {
			return fmt.Sprintf("receive from any rank (tag %d): no matching message", w.Tag)
		}
		return fmt.Sprintf("receive from rank %d (tag %d): no matching message", w.Peer, w.Tag)
	}
	return "runs"
}
