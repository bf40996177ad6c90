package host

// The function of a rank may return while messages of it are still queued: like any message, the
// last control message of a rendezvous waits for credits, and a peer waits for it.

// Linger makes progress on behalf of other ranks until this rank has no message left to send.
func (r *Rank) Linger() error { return r.LingerUntil(func() bool { return !r.Owes() }) }

// LingerUntil makes progress on behalf of other ranks until done, called after each step, returns
// true.
func (r *Rank) LingerUntil(done func() bool) error {
	r.engine.Waiting, r.engine.Lingers = nil, true
	defer func() { r.engine.Lingers = false }()
	for !done() {
		if _, err := r.engine.Step(); err != nil {
			return err
		}
	}
	return nil
}
