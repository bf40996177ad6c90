package nic

import "github.com/nicloop/nicloop/drivers"

// A Source is a unit of a node that injects packets (rtl/core/inject.sv).
type Source uint8

// The sources. Each sends on a class of its own.
const (
	SourceVELO Source = iota
	SourceRequest
	SourceAnswer
	Sources
)

// Class is the traffic class of the source's packets. A torus has two virtual channels per class.
func (s Source) Class() int { return int(s) }

// A Network carries packets between the nodes of a [Part], and to other parts. In each cycle the
// part runs its units and then calls Step. Blocked packets are woken by calls (Offer, Resume), so
// that neither side polls.
//
// The life of a packet:
//
//	Offer              a source has a packet
//	Part.Next          the network looks at it
//	Part.Sent          its last flit was injected
//	Part.Coming        its head is in the ejection buffer of its destination
//	Part.Accepts       asked before its head is taken out of that buffer
//	Part.Collected     its last flit was taken
//
// A packet without a route ends with Part.RouteError and Part.Discarded instead.
type Network interface {
	// Announce reports that a descriptor is on the bus of the send windows: RMA will inject a
	// packet some cycles later.
	Announce()
	// Offer reports that a source of node, which had no packet, has one. It may be injected in the
	// Step of the same cycle.
	Offer(node int, s Source)
	// Resume reports that packets of a class that were not accepted may be accepted from a cycle
	// on: the next one, or the present one, whose Step is still to come.
	Resume(node, class int, from drivers.Cycle)
	// Step simulates cycle now. Cycles of successive calls increase; those before NextEvent may be
	// skipped.
	Step(now drivers.Cycle)
	// NextEvent is the first cycle after now in which something happens without a call of the
	// machine, or Forever.
	NextEvent(now drivers.Cycle) drivers.Cycle
	// Waiting counts the flits of a class in node's ejection buffer, Credits those that may be
	// injected on its channel.
	Waiting(node, class int) int
	Credits(node, class int) int
	// Route sets the port by which node's router forwards packets to dst. A negative port restores
	// the route of the topology.
	Route(node, dst, port int)
	// RouteErrors counts the packets that node's router has discarded.
	RouteErrors(node int) uint64
	// Link reports whether the link at a port is connected; ok is false if the router has no such
	// link.
	Link(node, link int) (connected, ok bool)
}

// An Exchanger is the Network of a machine with several parts.
type Exchanger interface {
	// Finish reports that the units do nothing more before a cycle. The network sends everything
	// that it does without them until then.
	Finish(at drivers.Cycle)
	// Exchange follows each Finish. It receives what the networks of the other parts have sent up
	// to the same Finish, or to the previous one if late is 1. The others must have reached that
	// cycle and may be ahead of it. The effects are in the present cycle or later.
	Exchange(late uint)
}

// A CreditChecker is a Network that can check that no credit was lost or duplicated. It is called
// only when all parts of the network are empty and nothing moves in it.
type CreditChecker interface {
	CheckCredits() error
}
