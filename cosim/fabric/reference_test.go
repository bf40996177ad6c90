package fabric

// reference is a second implementation of the fabric, based on the rules of doc.go and the RTL's
// blocks, without optimisation: every router, port and VC is examined in every cycle, and nothing
// is cached.
type reference struct {
	cfg     Config
	t       Topology
	now     uint64
	routers []refRouter
	credits map[refOutputVC]int // of the sender on this VC
	flying  []refFlight
	owed    []refCredit
	told    map[refOutputVC]uint64 // cycle after the start of the last credit of a VC
	routes  map[[2]int]int         // set by software
	ejected []Ejection
	dropped []Ejection
}

// refOutputVC identifies a VC of a router's output; router -1 - node is a NIC's wire.
type refOutputVC struct{ router, port, vc int }

type refRouter struct {
	inputs  [][]refInput // by port and VC
	outputs []refOutput
}

type refInput struct {
	queues map[int][]Flit // by output
	port   int            // of the arriving packet; NoPort: discarded
}

type refOutput struct {
	last  int // last VC served
	vcs   []refArbiter
	stats PortStats
}

type refArbiter struct {
	owner, last int // requester vc * ports + input; owner -1: none
}

type refFlight struct {
	at               uint64
	router, port, vc int
	flit             Flit
}

type refCredit struct {
	at uint64
	to refOutputVC
}

func newReference(cfg Config) *reference {
	cfg.setDefaults()
	r := &reference{cfg: cfg, t: cfg.Topology, told: map[refOutputVC]uint64{}, credits: map[refOutputVC]int{}, routes: map[[2]int]int{}}
	for id := range r.t.Routers() {
		var x refRouter
		for port := range r.t.Ports(id) {
			in, out := make([]refInput, r.t.VCs()), refOutput{last: -1, vcs: make([]refArbiter, r.t.VCs())}
			for v := range in {
				in[v] = refInput{queues: map[int][]Flit{}, port: NoPort}
				out.vcs[v] = refArbiter{owner: -1, last: -1}
				r.credits[refOutputVC{id, port, v}] = cfg.VCDepth
				if node, ok := r.t.Node(id, port); ok {
					r.credits[refOutputVC{-1 - node, 0, v}] = cfg.VCDepth
				}
			}
			x.inputs, x.outputs = append(x.inputs, in), append(x.outputs, out)
		}
		r.routers = append(r.routers, x)
	}
	return r
}

// stand returns the router and port of a node.
func (r *reference) stand(node int) (int, int) {
	for id := range r.routers {
		for port := range r.routers[id].inputs {
			if n, ok := r.t.Node(id, port); ok && n == node {
				return id, port
			}
		}
	}
	panic("no such node")
}

func (r *reference) Credits(node, vc int) int { return r.credits[refOutputVC{-1 - node, 0, vc}] }

func (r *reference) Inject(node, vc int, flit Flit) {
	r.credits[refOutputVC{-1 - node, 0, vc}]--
	id, port := r.stand(node)
	r.flying = append(r.flying, refFlight{r.now + uint64(r.cfg.InjectCycles+r.cfg.RouterCycles) - 1, id, port, vc, flit})
}

func (r *reference) Release(node, vc int) {
	id, port := r.stand(node)
	r.owe(refOutputVC{id, port, vc}, r.now, r.cfg.LocalCreditCycles)
}

func (r *reference) Step() {
	r.ejected, r.dropped = nil, nil
	for id := range r.routers {
		for port := range r.routers[id].outputs {
			r.output(id, port)
		}
	}
	r.now++
	var flying []refFlight
	for _, x := range r.flying {
		if x.at == r.now {
			r.land(x)
		} else {
			flying = append(flying, x)
		}
	}
	r.flying = flying
	var owed []refCredit
	for _, x := range r.owed {
		if x.at == r.now {
			r.credits[x.to]++
		} else {
			owed = append(owed, x)
		}
	}
	r.owed = owed
}

// output sends from the first VC behind the last one served, of those that can.
func (r *reference) output(id, port int) {
	o := &r.routers[id].outputs[port]
	vcs, last := r.t.VCs(), o.last
	sent := false
	for i := range vcs {
		v := (last + 1 + i) % vcs
		from := r.choose(id, port, v)
		switch {
		case from < 0:
		case r.credits[refOutputVC{id, port, v}] == 0:
			o.stats.NoCredit++
		case sent:
			o.stats.Waited++
		default:
			o.last, sent = v, true
			o.stats.Flits++
			r.send(id, port, v, from)
		}
	}
}

// choose returns the requester whose flit output and VC would send, or -1.
func (r *reference) choose(id, port, v int) int {
	ports := r.t.Ports(id)
	a := &r.routers[id].outputs[port].vcs[v]
	total := ports * r.t.VCs()
	for i := range total {
		from := (a.last + 1 + i) % total
		in, vc := from%ports, from/ports
		holds := len(r.routers[id].inputs[in][vc].queues[port]) > 0
		if holds && int(r.t.VC(id, in, uint8(vc), port)) == v && (a.owner == -1 || a.owner == from) {
			return from
		}
	}
	return -1
}

func (r *reference) send(id, port, v, from int) {
	ports := r.t.Ports(id)
	a := &r.routers[id].outputs[port].vcs[v]
	in, vc := from%ports, from/ports
	q := r.routers[id].inputs[in][vc].queues
	flit := q[port][0]
	q[port] = q[port][1:]
	a.last, a.owner = from, from
	if flit.Tail() {
		a.owner = -1
	}
	r.credits[refOutputVC{id, port, v}]--
	r.free(id, in, vc, r.now)
	if node, ok := r.t.Node(id, port); ok {
		r.ejected = append(r.ejected, Ejection{int32(node), uint8(v), flit, 1})
		return
	}
	peer, back, _ := r.t.Link(id, port)
	r.flying = append(r.flying, refFlight{r.now + uint64(r.cfg.RouterCycles+r.cfg.LinkCycles), peer, back, v, flit})
}

// free returns a credit to the sender of this input.
func (r *reference) free(id, in, vc int, at uint64) {
	if node, ok := r.t.Node(id, in); ok {
		r.owe(refOutputVC{-1 - node, 0, vc}, at, r.cfg.LocalCreditCycles)
		return
	}
	peer, back, _ := r.t.Link(id, in)
	r.owe(refOutputVC{peer, back, vc}, at, r.cfg.CreditCycles)
}

// owe starts a credit, at most one per VC and cycle.
func (r *reference) owe(to refOutputVC, at uint64, delay int) {
	at = max(at, r.told[to])
	r.told[to] = at + 1
	r.owed = append(r.owed, refCredit{at + uint64(delay), to})
}

func (r *reference) land(x refFlight) {
	in := &r.routers[x.router].inputs[x.port][x.vc]
	if x.flit.Head() {
		in.port = r.route(x.router, x.port, x.flit.Dst())
	}
	if in.port == NoPort {
		r.dropped = append(r.dropped, Ejection{int32(x.router), uint8(x.vc), x.flit, 1})
		r.free(x.router, x.port, x.vc, r.now-1) // it is not examined by an output first
		return
	}
	in.queues[in.port] = append(in.queues[in.port], x.flit)
}

func (r *reference) route(id, in, dst int) int {
	if dst >= r.t.Nodes() {
		return NoPort
	}
	port, set := r.routes[[2]int{id, dst}]
	if !set {
		port = r.t.Port(id, dst)
	}
	if port < 0 || port >= r.t.Ports(id) {
		return NoPort
	}
	_, _, link := r.t.Link(id, port)
	_, nic := r.t.Node(id, port)
	if !nic && (!link || port == in) {
		return NoPort
	}
	return port
}
