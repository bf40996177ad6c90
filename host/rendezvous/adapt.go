package rendezvous

// Adaptation stops RTRs to a peer that does not use them, and finds out when it would again (SPEC,
// section 4.2.6). The receiver sees what becomes of each: a claim says which one it uses. So no
// flag has to travel.
type Adaptation struct {
	Always    bool // there is none: RTRs go on whatever becomes of them
	Window    int  // RTRs that are judged together
	Threshold int  // percent of them that must be used
	Pause     int  // receives without an RTR before one is tried again; doubles with each that is in vain
	LongPause int  // and goes up to that
}

// The paper's threshold is 80 %, section 4.4.2; it gives no window.
const (
	defaultWindow    = 8
	defaultThreshold = 80
	defaultPause     = 16
	defaultLongPause = 256
)

func (a *Adaptation) complete() {
	for _, v := range []struct{ have, want *int }{
		{&a.Window, new(defaultWindow)}, {&a.Threshold, new(defaultThreshold)}, {&a.Pause, new(defaultPause)}, {&a.LongPause, new(defaultLongPause)},
	} {
		if *v.have < 1 {
			*v.have = *v.want
		}
	}
}

// fate is what has become of the RTRs to a peer.
type fate struct {
	used, of int  // in this window
	stopped  bool // too few were used
	pause    int  // receives between two tries; 0: it was never stopped
	left     int  // receives until the next
}

// may tells whether a receive may send an RTR, and whether that is a try in a pause.
func (f *fate) may() (ok, try bool) {
	if f.stopped && f.left > 0 {
		f.left--
		return false, false
	}
	f.left = f.pause
	return true, f.stopped
}

// Pauses tells whether RTRs to a peer have stopped, and the next receive from it sends none.
func (c *Core) Pauses(peer int) bool {
	if c.spec == nil || peer >= len(c.pairs) || c.pairs[peer] == nil {
		return false
	}
	f := &c.pairs[peer].fate
	return f.stopped && f.left > 0
}

// was says what has become of an RTR. In a pause that counts for nothing of those sent before it.
func (f *fate) was(used, try bool, a *Adaptation) {
	switch {
	case a.Always:
		return
	case f.stopped && try && used:
		f.stopped = false
	case f.stopped && try:
		f.stop(a)
		return
	case f.stopped:
		return
	}
	f.of++
	if used {
		f.used++
	}
	if f.of < a.Window {
		return
	}
	enough := 100*f.used >= a.Threshold*f.of
	f.used, f.of = 0, 0
	if enough {
		f.pause = 0
		return
	}
	f.stop(a)
}

// stop goes on without RTRs for a while, longer each time.
func (f *fate) stop(a *Adaptation) {
	f.stopped = true
	f.pause = min(max(2*f.pause, a.Pause), max(a.Pause, a.LongPause))
	f.left = f.pause
}
