package host

import "fmt"

// What remains to be done for a rank whose function has returned. It has all that it wants, but others may wait for what it has said
// and what has not left yet: the end of a rendezvous waits for credits like any message.

// Owes tells whether messages that may leave have not left.
func (r *Rank) Owes() bool { return r.queued > r.held }

// Linger makes progress for others' sake until the rank owes nothing.
func (r *Rank) Linger() error { return r.LingerUntil(func() bool { return !r.Owes() }) }

// LingerUntil makes progress for others' sake until done says so, which is asked after each step.
func (r *Rank) LingerUntil(done func() bool) error {
	r.waiting, r.lingers = nil, true
	defer func() { r.lingers = false }()
	for !done() {
		if _, err := r.step(); err != nil {
			return err
		}
	}
	return nil
}

// owing is what a rank that lingers waits for.
func (r *Rank) owing() Waiting {
	for p := range r.peers {
		if q := r.peers[p].head; q != nil && !q.held {
			return Waiting{For: "credits", Peer: p, Tag: int(q.env.Tag), Sent: q.sent, Of: q.packets}
		}
	}
	return Waiting{}
}

// Settle does what there is to do without waiting when no rank of the world runs any more, and tells whether there was anything.
// It takes no time. A message that comes only now has not been received: that is an error.
func (r *Rank) Settle() (moved bool, err error) {
	r.settles = true
	defer func() { r.settles = false }()
	taken := r.ep.Taken()
	data, err := r.ep.Poll(&r.pkt)
	if err == nil && data {
		err = r.file(r.pkt.From, r.pkt.Payload)
	}
	for err == nil {
		peer, more := r.ep.Credited()
		if !more {
			break
		}
		before := r.queued
		err = r.push(peer)
		moved = moved || r.queued != before
	}
	return moved || r.ep.Taken() != taken, err
}

func errUnreceived(from int) error {
	return fmt.Errorf("a data packet from rank %d was never received", from)
}
