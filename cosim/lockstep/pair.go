package lockstep

import (
	"errors"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// ErrParted ends the software of both sides after a divergence.
var ErrParted = errors.New("lockstep: the two systems have parted")

// Mode selects what must be equal.
type Mode int

// The modes.
const (
	Cycles  Mode = iota // everything, in the same cycle
	Packets             // contents and destination of every packet, in order of each flow
)

// behind is the number of cycles that both sides continue after a divergence, to show its
// consequences.
const behind = 3000

// A Pair is two sides that are compared.
type Pair struct {
	mode  Mode
	names [2]string

	mu      sync.Mutex
	meeting *sync.Cond
	sides   [2]*Side
	arrived int  // sides waiting for the other
	round   uint // completed meetings
	parted  bool
	astray  bool          // see beyond: nothing is compared any more
	level   drivers.Cycle // later cycle of the last meeting
	until   drivers.Cycle // end of sides that have diverged
	agreed  uint64        // matching events
	stops   *stopPair     // the divergence, unless an event caused it
	history history
	writes  []write                // traced by both sides, memory not yet compared
	newest  map[line]drivers.Cycle // start of the latest of them, by line
	found   *Divergence
}

// New starts a comparison of two devices.
func New(mode Mode, left, right string) *Pair {
	p := &Pair{mode: mode, names: [2]string{left, right}}
	p.meeting = sync.NewCond(&p.mu)
	for i := range p.sides {
		p.sides[i] = &Side{pair: p, index: i}
	}
	return p
}

// Side is the left one (0) or the right one (1).
func (p *Pair) Side(i int) *Side { return p.sides[i] }

// Agreed counts the matching events. Both sides must have ended.
func (p *Pair) Agreed() uint64 { return p.agreed }

// Parted is the divergence, or nil. Both sides must have ended.
func (p *Pair) Parted() *Divergence { return p.found }

// A stop is the result of a call of a system.
type stop struct {
	what     string // description
	at       drivers.Cycle
	node     int // -1: none
	block    string
	value    string
	quiet    bool // its time is not compared: nothing moved any more, or a write was refused
	register bool
	counter  bool // or another register, at the end
	memory   bool
}

type stopPair [2]stop

// meet waits until the other side has reached the same call, and compares both.
func (p *Pair) meet(s *Side, what stop) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.stop = what
	if p.mode == Packets || p.parted || p.astray || p.other(s).ended {
		return p.alone(s)
	}
	if p.arrived++; p.arrived == len(p.sides) {
		p.level = max(s.stop.at, p.other(s).stop.at)
		p.compare()
		p.release()
	} else {
		round := p.round
		for round == p.round && !p.other(s).ended {
			p.meeting.Wait()
		}
		if round == p.round {
			return p.alone(s)
		}
	}
	return p.over(s)
}

// same reports whether both calls had the same result.
func (s *stopPair) same() bool {
	l, r := s[0], s[1]
	if l.quiet && r.quiet {
		l.at = r.at
	}
	return l == r
}

// latest is the later of the cycles in which both calls returned.
func (p *Pair) latest() drivers.Cycle {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parted || p.astray || p.mode == Packets {
		return 0
	}
	return p.level
}

// release lets both sides continue.
func (p *Pair) release() {
	p.arrived = 0
	p.round++
	p.meeting.Broadcast()
}

func (p *Pair) other(s *Side) *Side { return p.sides[1-s.index] }

// alone decides whether a side continues without the other.
func (p *Pair) alone(s *Side) error {
	o := p.other(s)
	if o.ended && !p.parted && !p.astray && p.mode == Cycles { // one has ended where the other continues
		p.part(min(s.stop.at, o.stop.at))
		p.stops = &stopPair{}
		p.stops[s.index], p.stops[o.index] = s.stop, stop{what: "its software has ended", at: o.stop.at, node: -1, value: "ended"}
	}
	return p.over(s)
}

// over reports whether a side that has diverged has run far enough.
func (p *Pair) over(s *Side) error {
	if p.parted && s.stop.at >= p.until {
		return ErrParted
	}
	return nil
}

// part records a divergence.
func (p *Pair) part(at drivers.Cycle) {
	p.parted, p.until = true, at+behind
}

// End records that a side's software has ended. The last side to end determines the divergence.
func (s *Side) End() {
	p := s.pair
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	if s.unregister != nil {
		s.unregister()
	}
	if o := p.other(s); o.ended {
		p.finish()
	} else if p.arrived > 0 { // the other waits for a call that will not be made
		p.release()
	}
}
