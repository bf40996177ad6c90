package routing

import "github.com/nicloop/nicloop/cosim/fabric/topology"

// grid is dimension order on meshes and tori; a torus uses the shorter way round, up if both are
// equal. Non-minimal routes of Valiant and UGAL lead by dimension order to a random router first,
// on separate VCs. A ring has two VCs: the second one from the wrap-around wire on.
type grid struct {
	topology.Grid
	kind  Kind
	bias  Bias
	rings int // VCs of one dimension order pass
}

// Stage of a packet on a grid: whether it has passed the wrap-around wire of its current dimension,
// that dimension, and whether it is on its way to the destination.
const (
	closed    = 1
	dimension = 6
	dimShift  = 1
	last      = 8
)

func newGrid(t topology.Grid, k Kind, b Bias) *grid {
	g := &grid{Grid: t, kind: k, bias: b, rings: 1}
	if t.Wrap {
		g.rings = 2
	}
	return g
}

// VCs implements Algorithm.
func (g *grid) VCs() int {
	if g.kind == Minimal {
		return g.rings
	}
	return 2 * g.rings
}

// Route implements Algorithm.
func (g *grid) Route(router, in int, h *Header, s *Sight) (port, vc int) {
	if in == 0 && h.Hops == 0 && g.kind != Minimal {
		g.decide(router, h, s)
	}
	if int(h.Via) == router {
		h.Via = None
	}
	if h.Via == None && h.Stage&last == 0 {
		h.Stage = last
	}
	to := int(h.Dst)
	if h.Via != None {
		to = int(h.Via)
	}
	port = g.toward(router, to)
	if port == 0 {
		return 0, 0
	}
	if dim := uint8(port-1) / 2 << dimShift; h.Stage&dimension != dim {
		h.Stage = h.Stage&last | dim
	}
	if g.Closes(router, port) {
		h.Stage |= closed
	}
	if g.kind != Minimal && h.Stage&last != 0 {
		vc = g.rings
	}
	return port, vc + int(h.Stage&closed)
}

func (g *grid) decide(router int, h *Header, s *Sight) {
	via := s.Intn(g.Routers())
	if via == router || via == int(h.Dst) || int(h.Dst) == router {
		return
	}
	if g.kind == Valiant || g.bias.longer(s, g.toward(router, int(h.Dst)), g.toward(router, via)) {
		h.Via = int16(via)
	}
}

// toward is dimension order.
func (g *grid) toward(router, dst int) int {
	stride := 1
	for d, size := range g.Dims {
		at, to := router/stride%size, dst/stride%size
		stride *= size
		if at == to {
			continue
		}
		up := to > at
		if g.Ring(d) {
			ahead := (to - at + size) % size
			up = ahead <= size-ahead
		}
		if up {
			return 1 + 2*d
		}
		return 2 + 2*d
	}
	return 0
}
