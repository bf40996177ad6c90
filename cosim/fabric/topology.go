package fabric

// NoPort is the route to an unreachable node.
const NoPort = -1

// A Topology describes the connections of routers and nodes, and the routes. New calls it once.
// Both ends of a link must agree.
type Topology interface {
	Nodes() int
	Routers() int
	VCs() int
	Ports(router int) int
	// Node returns the NIC at a port, if there is one. Every node has exactly one port.
	Node(router, port int) (node int, ok bool)
	// Link returns the other end of a port's wire, if there is one.
	Link(router, port int) (peer, peerPort int, ok bool)
	// Port is the route to dst, or NoPort. Software may change it: Fabric.SetRoute.
	Port(router, dst int) int
	// VC is the virtual channel on which a packet leaves by port out after it arrived on vc of port
	// in.
	VC(router, in int, vc uint8, out int) uint8
}

// Grid is a mesh or torus of up to three dimensions, as in cosim/dpi/src/wiring.h: node x + X*(y +
// Y*z), one per router; port 0 is local, then up and down in x, y and z. Routing is dimension
// order. A torus takes the shorter way round, up if both are equal, and needs two VCs per class:
// the second one from the wrap-around wire until the packet leaves the ring. A ring of two nodes
// has no wrap-around wire.
type Grid struct {
	Dims    [3]int
	Wrap    bool
	Classes int
}

// nicClasses is the number of the NIC's packet classes: VELO, RMA requests, RMA responses.
const nicClasses = 3

// Mesh returns a mesh with the NIC's three packet classes.
func Mesh(dims ...int) Topology { return grid(dims, false) }

// Torus returns a torus with the NIC's three packet classes, hence six VCs.
func Torus(dims ...int) Topology { return grid(dims, true) }

func grid(dims []int, wrap bool) Grid {
	g := Grid{Dims: [3]int{1, 1, 1}, Wrap: wrap, Classes: nicClasses}
	copy(g.Dims[:], dims)
	return g
}

// Nodes implements Topology.
func (g Grid) Nodes() int { return g.Dims[0] * g.Dims[1] * g.Dims[2] }

// Routers implements Topology.
func (g Grid) Routers() int { return g.Nodes() }

// VCs implements Topology.
func (g Grid) VCs() int {
	if g.Wrap {
		return 2 * g.Classes
	}
	return g.Classes
}

// Ports implements Topology: as many as the dimensions in use need.
func (g Grid) Ports(int) int {
	switch {
	case g.Dims[2] > 1:
		return 7
	case g.Dims[1] > 1:
		return 5
	}
	return 3
}

// Node implements Topology.
func (g Grid) Node(router, port int) (int, bool) { return router, port == 0 }

// Link implements Topology.
func (g Grid) Link(router, port int) (int, int, bool) {
	if port == 0 {
		return 0, 0, false
	}
	d, up := (port-1)/2, port%2 == 1
	stride, size := g.stride(d), g.Dims[d]
	at := router / stride % size
	to, back := at-1, port-1
	if up {
		to, back = at+1, port+1
	}
	if g.closes(router, port) {
		to = (to + size) % size
	}
	if to < 0 || to >= size {
		return 0, 0, false
	}
	return router + (to-at)*stride, back, true
}

// Port implements Topology.
func (g Grid) Port(router, dst int) int {
	if dst >= g.Nodes() {
		return NoPort
	}
	for d, size := range g.Dims {
		at, to := router/g.stride(d)%size, dst/g.stride(d)%size
		if at == to {
			continue
		}
		up := to > at
		if g.ring(d) {
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

// VC implements Topology.
func (g Grid) VC(router, in int, vc uint8, out int) uint8 {
	if !g.Wrap {
		return vc
	}
	class, late := vc%uint8(g.Classes), vc >= uint8(g.Classes)
	sameRing := in != 0 && out != 0 && (in-1)/2 == (out-1)/2
	if out != 0 && (g.closes(router, out) || (sameRing && late)) {
		class += uint8(g.Classes)
	}
	return class
}

func (g Grid) stride(d int) int {
	s := 1
	for _, size := range g.Dims[:d] {
		s *= size
	}
	return s
}

func (g Grid) ring(d int) bool { return g.Wrap && g.Dims[d] > 2 }

// closes reports whether the wire at port is the wrap-around wire of a ring.
func (g Grid) closes(router, port int) bool {
	d := (port - 1) / 2
	at := router / g.stride(d) % g.Dims[d]
	if port%2 == 1 {
		return g.ring(d) && at == g.Dims[d]-1
	}
	return g.ring(d) && at == 0
}
