package rendezvous

// Adaptation stops sending RTRs to a peer that does not use them, and probes from time to time
// whether it would (SPEC, section 4.2.6). No flag is transmitted: a claim names the RTR that it
// uses, so the receiver sees the outcome of each.
type Adaptation struct {
	Always    bool // no adaptation: keep sending RTRs even if they miss
	Window    int  // number of RTRs evaluated together
	Threshold int  // percentage of them that must be used
	Pause     int  // receives without an RTR before a probe; doubles after each unused probe
	LongPause int  // upper limit of Pause
}

// The threshold of 80 % is the paper's (section 4.4.2), which gives no window.
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

// fate is the outcome history of the RTRs to a peer.
type fate struct {
	used, of int  // in the current window
	stopped  bool // too few were used
	pause    int  // receives between two probes; 0: never stopped
	left     int  // receives until the next probe
}

// may reports whether a receive may send an RTR, and whether that RTR is a probe during a pause.
func (f *fate) may() (ok, try bool) {
	if f.stopped && f.left > 0 {
		f.left--
		return false, false
	}
	f.left = f.pause
	return true, f.stopped
}

// Pauses reports whether the next receive from a peer sends no RTR because too few were used.
func (c *Core) Pauses(peer int) bool {
	if c.spec == nil || peer >= len(c.pairs) || c.pairs[peer] == nil {
		return false
	}
	f := &c.pairs[peer].fate
	return f.stopped && f.left > 0
}

// was records the outcome of an RTR. During a pause only the outcome of the probe counts, not of
// RTRs sent before.
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

// stop pauses RTRs, each time for longer up to the limit.
func (f *fate) stop(a *Adaptation) {
	f.stopped = true
	f.pause = min(max(2*f.pause, a.Pause), max(a.Pause, a.LongPause))
	f.left = f.pause
}
