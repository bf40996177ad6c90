package explore

import (
	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// Partial-order reduction. Events of different processes do not disturb each other: each changes
// the state of its own process, takes from the front of queues towards it and adds to the end of
// queues away from it. So if a process has a packet waiting from everybody who can send it one
// before it acts itself, all that it may ever do next is possible now, and whatever the others do
// meanwhile can as well be done after it: only its own events are explored. What that keeps:
//
//   - States with nothing under way, and so all deadlocks, with paths as short: its packet must be
//     retrieved on the way there, and what it does on the way may come first.
//   - Illegal transitions and the flow controls' own checks: what another process does in its
//     state, it does behind this event, too.
//   - Credits conserved and requests pending: an event changes those sums by what it does to its
//     own process and the packets it takes and makes, whenever it happens.
//   - Overflows of a credit region: a process is not preferred if what is under way could make its
//     credit packets too many before it acts, unless what it takes is none of them.
//   - Overflows of a data region: packets under way are part of what their receiver has granted,
//     which is the sum above, and its grants never exceed its region (World.Check), which is its
//     own affair.
//   - Cycles of retrievals: one that goes on for ever does so behind any retrieval.
//
// Nothing is put off for ever. Whoever could act is not mute towards somebody, who is preferred
// only as long as packets last that were sent before; of the one or two others none has another to
// be preferred alternately with.

// reducible tells whether these options' worlds may be explored so. With Promises alone nobody
// looks at the grants; with Arrivals a mailbox orders the events of several senders; of four
// processes, two may be preferred alternately for ever.
func (o Options) reducible() bool { return !o.Full && !o.Promises && !o.Arrivals && o.Procs <= 3 }

// reduce keeps of the events those of one process, if that is enough: the one with the fewest.
func (x *explorer) reduce() {
	x.events = modelcheck.Fewest(x.events, x.w.procs, event.actor, x.ready)
}

// ready tells whether p has a packet waiting, and from everybody who can send it one before it
// acts.
func (x *explorer) ready(p int) bool {
	heard := false
	for from := range x.w.procs {
		if from == p {
			continue
		}
		q := x.w.network[x.w.pair(from, p)]
		switch {
		case len(q) == 0:
			if !x.mute(from, p) {
				return false
			}
		case q[0].kind == mailbox.Credit && x.mayOverflow(from, p):
			return false
		default:
			heard = true
		}
	}
	return heard
}

// mute tells whether from sends p nothing before p acts. It needs a credit for data, which comes
// from p; it returns credits for packets of p and answers requests of p. It asks p to return
// credits by itself only if p has more than its static slots.
func (x *explorer) mute(from, p int) bool {
	f := x.w.flows[from]
	if len(x.w.network[x.w.pair(p, from)]) > 0 || x.wants(from, p) && f.Credits(p) > 0 {
		return false
	}
	return x.o.Flow == Static || f.Granted(p) <= x.o.CreditSlots
}

// mayOverflow tells whether the credit packets from one process to p can become too many before p
// acts, each packet of p that is under way causing as many as it may.
func (x *explorer) mayOverflow(from, p int) bool {
	n := 0
	for _, packet := range x.w.network[x.w.pair(from, p)] {
		n += bit(packet.kind == mailbox.Credit)
	}
	for _, packet := range x.w.network[x.w.pair(p, from)] {
		n += returns(packet.kind)
	}
	return n > x.o.CreditSlots
}

// actor is the process whose flow control acts.
func (e event) actor() int {
	if e.act <= sendRoom {
		return e.from
	}
	return e.to
}
