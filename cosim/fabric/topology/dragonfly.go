package topology

import (
	"errors"
	"fmt"
)

// A Dragonfly has groups of A routers, each with P nodes and H global wires. Within a group every
// router has a wire to every other one. There is one wire between any two groups, so there are A*H
// + 1 groups.
//
// Ports of a router: its nodes, then the other routers of its group in order, then its global
// wires. Global wire k of a group (H per router, in order) leads to the group k+1 further.
type Dragonfly struct {
	P, A, H       int
	Local, Global int // latency of wires in cycles
}

// NewDragonfly validates the parameters. Balanced ones have A = 2P = 2H.
func NewDragonfly(p, a, h, local, global int) (Dragonfly, error) {
	d := Dragonfly{P: p, A: a, H: h, Local: local, Global: global}
	switch {
	case p < 1 || a < 2 || h < 1:
		return d, refuse("Dragonfly of %d nodes and %d global wires per router and %d routers per group: expected at least 1, 1 and 2", p, h, a)
	}
	if err := errors.Join(checkWire(local), checkWire(global)); err != nil {
		return d, err
	}
	name := fmt.Sprintf("dragonfly of %d nodes and %d global wires per router, %d routers per group", p, h, a)
	if err := checkNodes(name, a, h, 2); err != nil { // the number of groups must not overflow either
		return d, err
	}
	return d, checkNodes(name, d.Groups(), a, p)
}

func (d Dragonfly) String() string {
	return fmt.Sprintf("dragonfly of %d groups of %d routers with %d nodes and %d global wires each", d.Groups(), d.A, d.P, d.H)
}

// Groups is the number of groups.
func (d Dragonfly) Groups() int { return d.A*d.H + 1 }

// Nodes implements Topology.
func (d Dragonfly) Nodes() int { return d.Routers() * d.P }

// Routers implements Topology.
func (d Dragonfly) Routers() int { return d.Groups() * d.A }

// Ports implements Topology.
func (d Dragonfly) Ports(int) int { return d.P + d.A - 1 + d.H }

// Node implements Topology.
func (d Dragonfly) Node(router, port int) (int, bool) { return router*d.P + port, port < d.P }

// At implements Topology.
func (d Dragonfly) At(node int) (router, port int) { return node / d.P, node % d.P }

// Parts implements Topology: a group is a part.
func (d Dragonfly) Parts() int { return d.Groups() }

// Part implements Topology.
func (d Dragonfly) Part(router int) int { return router / d.A }

// LocalPort is the port of router `from` that leads to router `to` of the same group.
func (d Dragonfly) LocalPort(from, to int) int {
	if to > from {
		to--
	}
	return d.P + to
}

// Gateway returns the router of a group, and its port, whose wire leads to another group.
func (d Dragonfly) Gateway(group, to int) (router, port int) {
	ahead := to - group - 1
	if ahead < 0 {
		ahead += d.Groups()
	}
	return ahead / d.H, d.P + d.A - 1 + ahead%d.H
}

// Wire implements Topology.
func (d Dragonfly) Wire(router, port int) (Wire, bool) {
	group, at := router/d.A, router%d.A
	switch to := port - d.P; {
	case to < 0:
		return Wire{}, false
	case to < d.A-1:
		if to >= at {
			to++
		}
		return Wire{group*d.A + to, d.LocalPort(to, at), d.Local}, true
	default:
		other := (group + at*d.H + to - (d.A - 1) + 1) % d.Groups()
		peer, peerPort := d.Gateway(other, group)
		return Wire{other*d.A + peer, peerPort, d.Global}, true
	}
}
