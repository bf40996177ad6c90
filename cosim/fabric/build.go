package fabric

import "fmt"

const (
	maxVCs     = 8  // arbiter.after
	maxSharers = 64 // outputVC.held
	maxPorts   = 255
	maxNodes   = 1 << 16
	maxVCDepth = 1 << 14
	maxLatency = 1 << 10
	maxRun     = 1 << 6
)

// New builds an empty network at cycle 0.
func New(cfg Config) (*Fabric, error) {
	cfg.setDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := cfg.Topology
	f := &Fabric{cfg: cfg, vcs: t.VCs(), hop: uint64(cfg.RouterCycles + cfg.LinkCycles), parts: make([]*Part, cfg.allParts())}
	for i := range f.parts {
		f.parts[i] = &Part{Fabric: f, id: uint8(i), run: uint64(cfg.Run)}
	}
	if err := f.layOut(t); err != nil {
		return nil, err
	}
	if err := f.connect(t); err != nil {
		return nil, err
	}
	for r := range f.routers {
		if err := f.addQueues(t, r); err != nil {
			return nil, err
		}
	}
	f.fillRoutes(t)
	for _, p := range f.parts {
		f.addStorage(p)
	}
	return f, nil
}

func (c *Config) setDefaults() {
	for _, d := range []struct {
		v *int
		d int
	}{
		{&c.VCDepth, DefaultVCDepth}, {&c.RouterCycles, DefaultRouterCycles}, {&c.LinkCycles, DefaultLinkCycles}, {&c.InjectCycles, DefaultInjectCycles},
		{&c.CreditCycles, DefaultCreditCycles}, {&c.LocalCreditCycles, DefaultLocalCreditCycles},
		{&c.Run, 1}, {&c.Parts, 1},
	} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
}

func (c *Config) check() error {
	if c.Topology == nil {
		return fmt.Errorf("%w: no topology; give one, for example fabric.Mesh(4, 4)", ErrConfig)
	}
	for _, v := range []struct {
		name     string
		v        int
		low, top int
	}{
		{"nodes", c.Topology.Nodes(), 1, maxNodes}, {"VCs", c.Topology.VCs(), 1, maxVCs}, {"VCDepth", c.VCDepth, 1, maxVCDepth},
		{"RouterCycles", c.RouterCycles, 2, maxLatency}, {"LinkCycles", c.LinkCycles, 1, maxLatency},
		{"InjectCycles", c.InjectCycles, 1, maxLatency},
		{"CreditCycles", c.CreditCycles, 1, maxLatency}, {"LocalCreditCycles", c.LocalCreditCycles, 1, maxLatency},
		{"HopMax", c.HopMax, 0, c.mostHops()}, {"Run", c.Run, 1, c.longestRun()}, {"Parts", c.Parts, 1, c.mostParts()},
	} {
		if v.v < v.low || v.v > v.top {
			return fmt.Errorf("%w: %s is %d, expected %d to %d", ErrConfig, v.name, v.v, v.low, v.top)
		}
	}
	return nil
}

// longestRun is one flit with a Chooser, because that examines the network flit by flit.
func (c *Config) longestRun() int {
	if c.Chooser != nil {
		return 1
	}
	return maxRun
}

// mostHops is unlimited with a Chooser, because that uses the note itself.
func (c *Config) mostHops() int {
	if c.Chooser != nil {
		return 0
	}
	return noteMask
}

// mostParts is one with a Chooser, which may examine any router, and with Outside, which is served
// by one part.
func (c *Config) mostParts() int {
	if c.Chooser != nil || c.Outside != nil {
		return 1
	}
	return min(c.Topology.Routers(), int(exactly))
}

// allParts includes the part of the routers outside.
func (c *Config) allParts() int {
	if c.Outside != nil {
		return c.Parts + 1
	}
	return c.Parts
}

func (f *Fabric) partOf(r int) uint8 {
	if f.cfg.Outside != nil {
		if f.cfg.Outside(r) {
			return outside
		}
		return 0
	}
	if f.cfg.PartOf != nil {
		return uint8(f.cfg.PartOf(r))
	}
	return uint8(r * len(f.parts) / len(f.routers))
}

// layOut creates outputs and input VCs. Outputs to NICs come last, in order of nodes.
func (f *Fabric) layOut(t Topology) error {
	links, inputs, voqs := 0, 0, 0
	f.routers, f.where = make([]router, t.Routers()), make([]attachment, t.Nodes())
	for r := range f.routers {
		n := t.Ports(r)
		if n < 1 || n > maxPorts {
			return fmt.Errorf("%w: router %d has %d ports, expected 1 to %d", ErrConfig, r, n, maxPorts)
		}
		f.routers[r] = router{outs: make([]uint32, n), firstInput: inputs, part: f.partOf(r)}
		inputs, voqs = inputs+n*f.vcs, voqs+n*n*f.vcs
		for port := range n {
			if _, nic := t.Node(r, port); !nic {
				f.routers[r].outs[port] = uint32(links)
				links++
			}
		}
	}
	f.exits = links
	for r := range f.routers {
		for port := range f.routers[r].outs {
			if node, nic := t.Node(r, port); nic {
				f.routers[r].outs[port] = uint32(f.exits + node)
			}
		}
	}
	f.outputVCs, f.arbiters = f.newOutputVCs(links+t.Nodes()), make([]arbiter, links+t.Nodes())
	f.inputVCs, f.voqs = make([]inputVC, inputs), make([]*voq, 0, voqs)
	for r := range f.routers {
		for v := range f.vcs {
			for port := range f.routers[r].outs {
				*f.inputVC(r, port, v) = inputVC{
					router: uint32(r), part: f.routers[r].part, port: uint8(port), vc: uint8(v),
					voqs: uint32(len(f.voqs)), routes: uint32(r * t.Nodes()),
				}
				f.voqs = f.voqs[:len(f.voqs)+t.Ports(r)]
			}
		}
	}
	return nil
}

// newOutputVCs creates the VCs of n outputs or wires. An entry is promised at most a run before its
// flit has left, so the ring of promises has room for both.
func (f *Fabric) newOutputVCs(n int) []outputVC {
	ring := 32 // see history
	for ring < f.cfg.VCDepth+f.cfg.Run {
		ring *= 2
	}
	list, avail := make([]outputVC, n*f.vcs), make([]uint64, 2*n*f.vcs*ring)
	for i := range list {
		list[i] = outputVC{
			next: Forever, want: Forever, known: uint64(f.cfg.VCDepth), avail: avail[2*i*ring:][: ring : 2*ring],
			out: uint32(i / f.vcs), vc: uint8(i % f.vcs), last: 63,
		}
	}
	return list
}

func (f *Fabric) outputVC(r, port, vc int) *outputVC {
	return &f.outputVCs[int(f.routers[r].outs[port])*f.vcs+vc]
}

// inputVC returns an input VC. Those of a router are ordered by VC, then port, which is the order
// of the RTL's arbiters.
func (f *Fabric) inputVC(r, port, vc int) *inputVC {
	return &f.inputVCs[f.routers[r].firstInput+vc*len(f.routers[r].outs)+port]
}

// connect connects every output VC to the input VC that it fills.
func (f *Fabric) connect(t Topology) error {
	connected := 0
	for r := range f.routers {
		for port := range f.routers[r].outs {
			if node, ok := t.Node(r, port); ok {
				f.connectNIC(node, r, port)
				connected++
				continue
			}
			peer, back, ok := t.Link(r, port)
			if !ok {
				continue
			}
			if r2, p2, ok := t.Link(peer, back); !ok || r2 != r || p2 != port {
				return fmt.Errorf("%w: port %d of router %d leads to port %d of router %d, which does not lead back", ErrConfig, port, r, back, peer)
			}
			for v := range f.vcs {
				f.join(f.outputVC(r, port, v), f.inputVC(peer, back, v), r, f.cfg.CreditCycles)
			}
		}
	}
	if connected != t.Nodes() {
		return fmt.Errorf("%w: %d nodes stand at ports, expected %d", ErrConfig, connected, t.Nodes())
	}
	return nil
}

func (f *Fabric) connectNIC(node, r, port int) {
	w := &f.where[node]
	w.wire, w.buffer = f.newOutputVCs(1), make([]inputVC, f.vcs)
	for v := range f.vcs {
		w.wire[v].out, w.wire[v].wire = uint32(node), true
		w.buffer[v] = inputVC{router: uint32(node), part: f.routers[r].part, vc: uint8(v)}
		f.join(f.outputVC(r, port, v), &w.buffer[v], r, f.cfg.LocalCreditCycles)
		f.join(&w.wire[v], f.inputVC(r, port, v), r, f.cfg.LocalCreditCycles)
	}
}

// join connects an output VC of a router to an input VC.
func (f *Fabric) join(l *outputVC, to *inputVC, r, delay int) {
	l.to, to.sender, to.delay = to, l, uint64(delay)
	l.part, to.from = to.part, f.routers[r].part
}

// addQueues creates, for every output VC of a router, a queue for each input VC that can feed it.
// Only a NIC may receive packets that it sent.
func (f *Fabric) addQueues(t Topology, r int) error {
	ports := len(f.routers[r].outs)
	for out := range ports {
		for w := range f.vcs {
			l := f.outputVC(r, out, w)
			if l.to == nil {
				continue
			}
			from, err := f.feeders(t, r, out, w)
			if err != nil {
				return err
			}
			l.queues = make([]voq, len(from))
			for i, p := range from {
				l.queues[i] = voq{out: l, in: p, bit: 1 << i}
				f.voqs[int(p.voqs)+out] = &l.queues[i]
			}
		}
	}
	return nil
}

// feeders returns the input VCs that can feed an output VC.
func (f *Fabric) feeders(t Topology, r, out, w int) (from []*inputVC, err error) {
	_, nic := t.Node(r, out)
	for v := range f.vcs {
		for in := range f.routers[r].outs {
			p := f.inputVC(r, in, v)
			if v == 0 && f.cfg.Run > 1 && t.VC(r, in, 0, out) != 0 {
				return nil, fmt.Errorf("%w: runs of %d flits, but packets leave VC 0 at router %d; expected Run to be 1", ErrConfig, f.cfg.Run, r)
			}
			if p.sender != nil && (in != out || nic) && int(t.VC(r, in, uint8(v), out)) == w {
				from = append(from, p)
			}
		}
	}
	if len(from) > maxSharers {
		err = fmt.Errorf("%w: %d input VCs share VC %d of port %d of router %d, expected at most %d", ErrConfig, len(from), w, out, r, maxSharers)
	}
	return from, err
}

func (f *Fabric) fillRoutes(t Topology) {
	f.routes = make([]uint8, t.Routers()*t.Nodes())
	for r := range f.routers {
		for dst := range t.Nodes() {
			f.SetRoute(r, dst, t.Port(r, dst))
		}
	}
}

// addStorage allocates space for the maximum number of flits and events of a part.
func (f *Fabric) addStorage(p *Part) {
	inputs := 0
	for i := range f.inputVCs {
		if f.inputVCs[i].part == p.id && f.inputVCs[i].sender != nil {
			inputs++
		}
	}
	runs := make([]flitRun, inputs*f.cfg.VCDepth)
	for i := range runs {
		runs[i].next, p.freeRuns = p.freeRuns, &runs[i]
	}
	nodes := len(f.where)
	p.ejected, p.dropped = make([]Ejection, 0, nodes), make([]Ejection, 0, inputs)
	p.credited = make([]int32, 0, nodes*f.vcs)
	// A credit may wait for all others of its VC.
	credit := max(f.cfg.CreditCycles, f.cfg.LocalCreditCycles) + f.cfg.VCDepth + 2*f.cfg.Run
	p.calendar = NewCalendar(max(int(f.hop), f.cfg.InjectCycles+f.cfg.RouterCycles, credit), len(f.arbiters))
	p.drops = newAgenda[drop](max(int(f.hop), f.cfg.InjectCycles+f.cfg.RouterCycles)+f.cfg.Run, inputs) // one flit arrives per input and cycle
	if len(f.parts) > 1 {
		for i := range p.boxes {
			p.boxes[i] = make([]outbox, len(f.parts))
		}
	}
}
