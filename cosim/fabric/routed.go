package fabric

import (
	"fmt"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
)

// Routed is a Dragonfly or a fat tree, whose routers have several nodes or none. All packets of a
// pair take the same minimal route, so packets of a pair and class stay in order. All wires have
// the same latency, including those between groups.
type Routed struct {
	topology.Topology
	routes  routing.Algorithm
	classes uint8
	local   int // of a Dragonfly: the first port that leads to another router
	global  int // of a Dragonfly: the first port that leads to another group; 0: a tree
}

// NewRouted creates a topology for the NIC's three packet classes.
func NewRouted(t topology.Topology) (*Routed, error) {
	x := &Routed{Topology: t, classes: nicClasses}
	switch d := t.(type) {
	case topology.Dragonfly:
		x.local, x.global = d.P, d.P+d.A-1
	case topology.FatTree:
	default:
		return nil, fmt.Errorf("%w: %s: expected a Dragonfly or a fat tree", ErrConfig, t)
	}
	var err error
	x.routes, err = routing.New(routing.Minimal, t, routing.DefaultBias)
	return x, err
}

// VCs implements Topology: one per class, and in a Dragonfly a second one after a global wire.
func (x *Routed) VCs() int {
	if x.global > 0 {
		return 2 * int(x.classes)
	}
	return int(x.classes)
}

// Link implements Topology.
func (x *Routed) Link(router, port int) (peer, peerPort int, ok bool) {
	w, ok := x.Wire(router, port)
	return w.Router, w.Port, ok
}

// Port implements Topology.
func (x *Routed) Port(router, dst int) int {
	if dst >= x.Nodes() {
		return NoPort
	}
	h := routing.To(dst)
	port, _ := x.routes.Route(router, 0, &h, nil)
	return port
}

// VC implements Topology. In a Dragonfly a packet uses the first VC of its class on a local and a
// global wire, and the second one on the following local wire: a packet that holds a wire waits
// only for a later one in this order, so there is no deadlock. In a tree packets go up, then down.
func (x *Routed) VC(_, in int, vc uint8, out int) uint8 {
	class := vc % x.classes
	behind := in >= x.global || in >= x.local && vc >= x.classes
	if x.global > 0 && out >= x.local && out < x.global && behind {
		return class + x.classes
	}
	return class
}

// PartOf returns the part of a router in a network with several parts, along the topology's own
// parts; for Config.
func (x *Routed) PartOf(parts int) func(router int) int {
	return func(router int) int { return x.Part(router) * parts / x.Parts() }
}

// Cuts returns the first nodes of the parts, followed by the number of nodes: the nodes of a part
// have consecutive numbers.
func (x *Routed) Cuts(parts int) []int {
	list, of := make([]int, parts+1), x.PartOf(parts)
	for node := range x.Nodes() {
		router, _ := x.At(node)
		list[of(router)+1] = node + 1
	}
	return list
}
