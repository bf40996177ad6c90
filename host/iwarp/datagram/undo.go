package datagram

// attempt is the state of a peer before a transmission to it.
type attempt struct {
	peer     *peer
	message  *outgoing // nil: an acknowledgement alone
	outgoing outgoing  // the message before the transmission

	sent           uint32
	silent         int
	backoff        uint
	ackDue, ackNow bool
	unacked        int
}

func (p *peer) attempt() attempt {
	return attempt{
		peer: p, sent: p.sent, silent: p.silent, backoff: p.backoff,
		ackDue: p.ackDue, ackNow: p.ackNow, unacked: p.unacked,
	}
}

// Undo makes the last call of Next void: the port has not taken its datagram. Otherwise the message
// would count as sent, and be repeated only after a timeout. It must be called before any other
// method.
func (r *Reliable) Undo() {
	l := &r.last
	if l.message != nil {
		if l.outgoing.sent > 0 {
			r.Counters.Retransmitted--
		}
		*l.message = l.outgoing
	}
	p := l.peer
	p.sent, p.silent, p.backoff = l.sent, l.silent, l.backoff
	p.ackDue, p.ackNow, p.unacked = l.ackDue, l.ackNow, l.unacked
}
