package datagram

// attempt is the state of a peer before a transmission to it.
type attempt struct {
	peer     *peer
	pacing   pacing
	message  *outgoing // nil: an acknowledgement alone
	outgoing outgoing  // the message before the transmission
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
	l.peer.pacing = l.pacing
}
