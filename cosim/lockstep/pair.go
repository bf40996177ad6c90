package lockstep

import (
	"errors"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// ErrParted ends the software of both sides after they have parted.
var ErrParted = errors.New("lockstep: the two systems have parted")

// Mode says what must be the same.
type Mode int

// The modes.
const (
	Cycles  Mode = iota // everything, in the same cycle
	Packets             // what every packet carries and where it goes, in order of each flow
)

// behind is for how many cycles both sides go on after they have parted, to see what became of it.
const behind = 3000

// A Pair is two sides that are compared.
type Pair struct {
	mode  Mode
	names [2]string

	mu      sync.Mutex
	meeting *sync.Cond
	sides   [2]*Side
	arrived int  // sides that wait for the other
	round   uint // meetings that are over
	parted  bool
	astray  bool          // see beyond: nothing is compared any more
	level   drivers.Cycle // the later one of those that met last
	until   drivers.Cycle // where the sides end that have parted
	agreed  uint64        // events that were the same
	stops   *stopPair     // what parted them, if no event did
	history history
	writes  []write                // that both have shown, and whose memory has not been compared
	newest  map[line]drivers.Cycle // when the last of them to a line began
	found   *Divergence
}

// New begins a comparison of two devices.
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

// Agreed counts the events that were the same on both sides. Both must have ended.
func (p *Pair) Agreed() uint64 { return p.agreed }

// Parted is where the sides part, nil if they do not. Both must have ended.
func (p *Pair) Parted() *Divergence { return p.found }

// A stop is what one call of a system came back with.
type stop struct {
	what     string // for people
	at       drivers.Cycle
	node     int // -1: none
	block    string
	value    string
	quiet    bool // when it was seen does not count: nothing moved any more, or a write was refused
	register bool
	counter  bool // or another register, in the end
	memory   bool
}

type stopPair [2]stop

// meet waits until the other side has come as far and compares both.
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

// same tells whether both sides came back with the same.
func (s *stopPair) same() bool {
	l, r := s[0], s[1]
	if l.quiet && r.quiet {
		l.at = r.at
	}
	return l == r
}

// latest is the later of the cycles in which both sides came back.
func (p *Pair) latest() drivers.Cycle {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parted || p.astray || p.mode == Packets {
		return 0
	}
	return p.level
}

// release lets both sides go on.
func (p *Pair) release() {
	p.arrived = 0
	p.round++
	p.meeting.Broadcast()
}

func (p *Pair) other(s *Side) *Side { return p.sides[1-s.index] }

// alone tells a side that has nobody to wait for whether it goes on.
func (p *Pair) alone(s *Side) error {
	o := p.other(s)
	if o.ended && !p.parted && !p.astray && p.mode == Cycles { // one has ended where the other goes on
		p.part(min(s.stop.at, o.stop.at))
		p.stops = &stopPair{}
		p.stops[s.index], p.stops[o.index] = s.stop, stop{what: "its software has ended", at: o.stop.at, node: -1, value: "ended"}
	}
	return p.over(s)
}

// over tells a side that has parted whether enough was seen.
func (p *Pair) over(s *Side) error {
	if p.parted && s.stop.at >= p.until {
		return ErrParted
	}
	return nil
}

// part notes that the sides are not the same any more.
func (p *Pair) part(at drivers.Cycle) {
	p.parted, p.until = true, at+behind
}

// End tells that a side's software has ended. The last one to end finds where the sides have
// parted.
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
	} else if p.arrived > 0 { // the other waits for what will not come
		p.release()
	}
}
