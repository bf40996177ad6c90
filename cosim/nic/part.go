package nic

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// A Part is a range of consecutive nodes of a machine with all state that one thread needs to
// simulate them. Parts share only the packets (freeList) and what their networks exchange at the
// end of a window.
type Part struct {
	m           *Machine
	nodes       []node // of the whole machine; of this part from first on
	first, past int
	net         Network
	wires       Wires         // of it, if they can have faults
	now         drivers.Cycle // the last cycle that was performed
	upcoming    drivers.Cycle // the first cycle to come, when the machine has asked
	opened      drivers.Cycle // cycles before this may be performed by Run
	wheel       wheel
	packets     freeList
	events      uint64          // units that have worked
	fired       []drivers.Fired // since the last report
	errs        []error
	_           [64]byte // the next part is written by another thread
}

var _ drivers.Partition = (*Part)(nil)

// Nodes returns the half-open range [first, past) of the part's nodes.
func (p *Part) Nodes() (first, past int) { return p.first, p.past }

// Now is the last cycle that was simulated.
func (p *Part) Now() drivers.Cycle { return p.now }

// NextEvent is the first cycle in which something happens without a call, or Forever.
func (p *Part) NextEvent() drivers.Cycle { return min(p.wheel.next(p.now), p.net.NextEvent(p.now)) }

// perform simulates a cycle: first the units that are due, then the network.
func (p *Part) perform(t drivers.Cycle) {
	p.now = t
	due := p.wheel.take(t)
	for i := range due {
		for set := due[i]; set != 0; set &= set - 1 {
			p.events++
			p.nodes[p.first+i%p.wheel.words<<6+bits.TrailingZeros64(set)].work(unitID(i / p.wheel.words))
		}
		due[i] = 0
	}
	p.net.Step(t)
}

// Events counts the activations of units.
func (p *Part) Events() uint64 { return p.events }

// Open lets Run simulate the cycles before past.
func (p *Part) Open(past drivers.Cycle) { p.opened = past }

// finish makes the network send what is due before a cycle.
func (p *Part) finish(at drivers.Cycle) { p.net.(Exchanger).Finish(at) }

// Exchange receives what the other parts have sent.
func (p *Part) Exchange(late uint) {
	p.packets.look()
	p.net.(Exchanger).Exchange(late)
}

// Run is Machine.Run for this part alone. It also returns, without advancing time, if the next
// event lies beyond the window (Open).
func (p *Part) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: p.now, Fired: stop.Fired[:0]}
	end := min(deadline, p.opened-1)
	for !p.stops() {
		t := p.NextEvent()
		if t > end {
			if end == deadline {
				p.now = max(p.now, deadline)
			} else {
				p.finish(p.opened)
			}
			break
		}
		p.perform(t)
	}
	stop.Now = p.now
	stop.Fired = p.report(stop.Fired)
	if err := p.refusals(); err != nil || !p.m.closed.Load() {
		return err
	}
	return drivers.ErrClosed
}

// stops reports whether there is something to report.
func (p *Part) stops() bool { return len(p.fired)+len(p.errs) > 0 }

// report appends the conditions that have fired to list in a fixed order.
func (p *Part) report(list []drivers.Fired) []drivers.Fired {
	if len(p.fired) > 1 {
		slices.SortFunc(p.fired, func(a, b drivers.Fired) int {
			return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind),
				cmp.Compare(a.Watch, b.Watch), cmp.Compare(a.VPID, b.VPID))
		})
	}
	list = append(list, p.fired...)
	p.fired = p.fired[:0]
	return list
}

// refusals returns the errors since the last report.
func (p *Part) refusals() error {
	if len(p.errs) == 0 {
		return nil
	}
	err := errors.Join(p.errs...)
	p.errs = p.errs[:0]
	return err
}

func (p *Part) fail(err error) { p.errs = append(p.errs, err) }

// empty reports whether nothing is posted, in flight or buffered. It ignores packets, which all
// parts share.
func (p *Part) empty() bool {
	for i := p.first; i < p.past; i++ {
		if !p.nodes[i].empty() {
			return false
		}
	}
	return true
}

// drained is Machine.drained for this part.
func (p *Part) drained() (at drivers.Cycle) {
	for i := p.first; i < p.past; i++ {
		for k := range p.nodes[i].nvm {
			at = max(at, p.nodes[i].nvm[k].empty())
		}
	}
	return at
}
