package nic

import "github.com/nicloop/nicloop/drivers"

// A Source is a sender of a node, as the RTL's inject has them.
type Source uint8

// The sources. Each sends on a class of its own.
const (
	SourceVELO Source = iota
	SourceRequest
	SourceAnswer
	Sources
)

// Class is the class of packets that a source sends; a torus has two virtual
// channels per class.
func (s Source) Class() int { return int(s) }

// A Network carries packets between the nodes of a [Part], and to other parts. In each cycle the
// part lets its units work, then calls Step. What a packet waits for is told by
// calls, so nobody has to look again in every cycle.
//
// The network asks with Part.Next what a source wants to send, tells
// with Part.Sent that it has left, asks Part.Accepts before it takes the head of a packet
// out of the node's ejection buffer, and hands the whole packet over with Part.Collected,
// or, when a router has no way for it, with Part.RouteError and Part.Discarded.
type Network interface {
	// Announce tells that RMA will want to send, some cycles from now: a descriptor is on the bus of the send windows.
	Announce()
	// Offer tells that a source of node, which had nothing, has a packet. It may
	// leave in the Step of the same cycle.
	Offer(node int, s Source)
	// Resume tells that packets of a class which were not accepted may be from a cycle
	// on: the next, or the present one, whose Step is still to come.
	Resume(node, class int, from drivers.Cycle)
	// Step does what happens in cycle now. Calls have growing cycles, which may skip
	// those before NextEvent.
	Step(now drivers.Cycle)
	// NextEvent is the first cycle behind now in which something happens without
	// the machine, or Forever.
	NextEvent(now drivers.Cycle) drivers.Cycle
	// Waiting counts the flits of a class in node's ejection buffer, Credits what
	// may be injected on its channel.
	Waiting(node, class int) int
	Credits(node, class int) int
	// Route makes node's router send what is for dst by a port; a negative port gives the
	// topology's own way back.
	Route(node, dst, port int)
	// RouteErrors counts packets discarded by node's router. Link tells whether a port's
	// link is connected; ok is false for a link that the router has not got.
	RouteErrors(node int) uint64
	Link(node, link int) (connected, ok bool)
}

// An Exchanger is a Network of a machine with several parts.
type Exchanger interface {
	// Finish tells that the units do nothing more before a cycle: what the network does
	// by itself until then must have been sent.
	Finish(at drivers.Cycle)
	// Exchange follows each Finish. It takes what the networks of the other parts have sent
	// up to the same Finish, or the one before if late is 1, to which they have come. What comes
	// of it happens in the present cycle or later. The others may have gone on.
	Exchange(late uint)
}

// A CreditChecker is a Network that can check that none of its credits was lost or invented. All parts
// of the network are empty, and nothing in it moves.
type CreditChecker interface {
	CheckCredits() error
}
