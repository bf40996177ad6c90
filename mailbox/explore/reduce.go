package explore

import "github.com/nicloop/nicloop/mailbox"

// Partial-order reduction. Events of different processes do not disturb each other: each changes the
// state of its own process, takes from the front of queues towards it and adds to the end of queues
// away from it. So if a process has a packet waiting from everybody who can send it one, all that it
// may ever do next is possible now, and whatever the others do meanwhile can as well be done after it:
// only its own events are explored. What that keeps:
//
//   - States with nothing under way, and so all deadlocks, with paths as short: its packet must be
//     retrieved on the way there, and what retrieves it may come first.
//   - Illegal transitions and the flow controls' own checks: what another process does in its state,
//     it does behind this event, too.
//   - Credits conserved and requests pending: an event changes those sums by what it does to its own
//     process and the packets it takes and makes, whenever it happens.
//   - Overflows of a credit region: only events that take no credit packet are preferred. Taking
//     another leaves the number of credit packets under way, so a state that overflows does so still.
//   - Overflows of a data region: packets under way are part of what their receiver has granted, which
//     is the sum above, and its grants never exceed its region (World.Check), which is its own affair.
//   - Cycles of retrievals: one that goes on for ever does so behind any retrieval.
//
// Nothing is put off for ever: of the processes that are preferred, each eats up packets that those
// who are put off have sent before.

// reducible tells whether these options' worlds may be explored so. With Promises alone nobody looks
// at the grants; with Arrivals a mailbox orders the events of several senders.
func (o Options) reducible() bool { return !o.Full && !o.Promises && !o.Arrivals }

// canHear tells whether packets can be under way between two processes. A dynamic flow control may
// ask any peer for its credits.
func (o Options) canHear(from, to int) bool {
	return o.Flow == Dynamic || o.sends(from, to) || o.sends(to, from)
}

// reduce keeps of the events those of one process, if that is enough: the one with the fewest.
func (x *explorer) reduce() {
	best, fewest := -1, len(x.events)
	for p := range x.w.procs {
		if !x.ready(p) {
			continue
		}
		n := 0
		for _, e := range x.events {
			n += bit(e.actor() == p)
		}
		if n < fewest {
			best, fewest = p, n
		}
	}
	if best < 0 {
		return
	}
	kept := x.events[:0]
	for _, e := range x.events {
		if e.actor() == best {
			kept = append(kept, e)
		}
	}
	x.events = kept
}

// ready tells whether a packet waits for p from everybody who can send it one, none of them a
// credit packet.
func (x *explorer) ready(p int) bool {
	heard := false
	for from := range x.w.procs {
		if from == p || !x.o.canHear(from, p) {
			continue
		}
		q := x.w.network[x.w.pair(from, p)]
		if len(q) == 0 || q[0].kind == mailbox.Credit {
			return false
		}
		heard = true
	}
	return heard
}

// actor is the process whose flow control acts.
func (e event) actor() int {
	if e.act <= sendRoom {
		return e.from
	}
	return e.to
}
