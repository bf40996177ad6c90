package routing

import "github.com/nicloop/nicloop/cosim/fabric/topology"

// dragonfly is routing on a Dragonfly. Non-minimal routes pass a random group, and lead from the
// router where they enter it directly to the destination.
//
// VC numbers increase along every route: local 0, local 1 where PAR diverted after one local hop,
// global 0, the next local, global 1, the last local.
type dragonfly struct {
	topology.Dragonfly
	kind     Kind
	bias     Bias
	behind   int // local VC after the first global wire
	group    []int16
	router   []int32     // by node
	node     []int8      // port by node
	gateways [][]gateway // by group, to group
}

// A gateway is the router and port of a group's wire to another group.
type gateway struct{ router, port int32 }

// Stage of a packet on a Dragonfly: the number of global wires passed, and whether it has moved to
// another router of its first group.
const (
	taken    = 3
	diverted = 4
)

func newDragonfly(t topology.Dragonfly, k Kind, b Bias) *dragonfly {
	d := &dragonfly{Dragonfly: t, kind: k, bias: b, behind: 1}
	if k == PAR {
		d.behind = 2
	}
	for r := range t.Routers() {
		d.group = append(d.group, int16(t.Part(r)))
	}
	for n := range t.Nodes() {
		r, p := t.At(n)
		d.router, d.node = append(d.router, int32(r)), append(d.node, int8(p))
	}
	d.gateways = make([][]gateway, t.Groups())
	for from := range d.gateways {
		d.gateways[from] = make([]gateway, t.Groups())
		for to := range d.gateways[from] {
			if from != to {
				r, p := t.Gateway(from, to)
				d.gateways[from][to] = gateway{int32(from*t.A + r), int32(p)}
			}
		}
	}
	return d
}

// VCs implements Algorithm.
func (d *dragonfly) VCs() int {
	if d.kind == Minimal {
		return 2
	}
	return d.behind + 2
}

// Route implements Algorithm.
func (d *dragonfly) Route(router, in int, h *Header, s *Sight) (port, vc int) {
	here, to := int(d.group[router]), int(d.router[h.Dst])
	target := int(d.group[to])
	if int(h.Via) == here {
		h.Via = None
	}
	if here != target && h.Stage&taken == 0 && h.Via == None {
		d.decide(router, in, here, target, h, s)
	}
	if h.Via != None {
		target = int(h.Via)
	}
	globals := int(h.Stage & taken)
	if target != here {
		if w := d.gateways[here][target]; int(w.router) == router {
			h.Stage = h.Stage&^diverted + 1
			return int(w.port), globals
		}
		to = int(d.gateways[here][target].router)
	} else if to == router {
		return int(d.node[h.Dst]), 0
	}
	if globals > 0 {
		vc = d.behind + globals - 1
	} else if h.Stage&diverted != 0 {
		vc = 1
	}
	h.Stage |= diverted
	return d.LocalPort(router-here*d.A, to-here*d.A), vc
}

// decide sends a packet through another group if the algorithm chooses that here.
func (d *dragonfly) decide(router, in, here, target int, h *Header, s *Sight) {
	if first := in < d.P; d.kind == Minimal || d.Groups() < 3 || !first && d.kind != PAR {
		return
	}
	via := s.Intn(d.Groups() - 2) // any but here and target
	for _, not := range [2]int{min(here, target), max(here, target)} {
		if via >= not {
			via++
		}
	}
	if d.kind == Valiant || d.bias.longer(s, d.toward(router, here, target), d.toward(router, here, via)) {
		h.Via = int16(via)
	}
}

// toward is the port of a router towards another group.
func (d *dragonfly) toward(router, here, target int) int {
	w := d.gateways[here][target]
	if int(w.router) == router {
		return int(w.port)
	}
	return d.LocalPort(router-here*d.A, int(w.router)-here*d.A)
}
