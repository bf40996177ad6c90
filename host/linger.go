package host

// A rank whose function has returned has all that it wants, but others may wait for messages of it
// that have not left yet: the end of a rendezvous waits for credits like any message.

// Linger makes progress for the sake of other ranks until the rank owes no message.
func (r *Rank) Linger() error { return r.LingerUntil(func() bool { return !r.Owes() }) }

// LingerUntil makes progress for the sake of other ranks until done, which is asked after each
// step.
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
