package ideal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	defaultNodes  = 2
	defaultMemory = 4 << 20
	readCycles    = 4 // from a register's value to software
)

func init() {
	drivers.Register("ideal", "a functional NIC in Go, for tests of the layers above", []string{"latency", "depth"}, open)
}

// A System is a machine of ideal NICs. It implements drivers.Timed.
type System struct {
	info    drivers.Info
	now     drivers.Cycle
	latency drivers.Cycle // from the first flit's injection to its ejection
	depth   int           // packets on their way to one node
	nodes   []node
	watches []watch
	fired   []drivers.Fired // since the last report
	errs    []error
	closed  bool
	tracer
}

type watch struct {
	node  int
	off   uint64
	end   uint64
	armed bool
}

var _ drivers.Timed = (*System)(nil)

func open(_ context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	if path != "" {
		return nil, fmt.Errorf("%w: ideal: found path %q; expected none", drivers.ErrConfig, path)
	}
	latency, err := number(keys, "latency", 20, 1, 1<<20)
	if err != nil {
		return nil, err
	}
	depth, err := number(keys, "depth", 8, 1, 1<<20)
	if err != nil {
		return nil, err
	}
	return New(opt, drivers.Cycle(latency), depth)
}

func number(keys map[string]string, key string, def, low, high int) (int, error) {
	text, given := keys[key]
	if !given {
		return def, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < low || v > high {
		return 0, fmt.Errorf("%w: ideal: %s=%q: expected a number in %d..%d", drivers.ErrConfig, key, text, low, high)
	}
	return v, nil
}

// New makes a machine. Of opt it takes Nodes (default 2), MemoryBytes (default
// 4 MiB per node) and Trace.
func New(opt drivers.Options, latency drivers.Cycle, depth int) (*System, error) {
	n, mem := opt.Nodes, opt.MemoryBytes
	if n == 0 {
		n = defaultNodes
	}
	if mem == 0 {
		mem = defaultMemory
	}
	switch {
	case opt.Waves != nil:
		return nil, fmt.Errorf("%w: ideal has no waveforms, rtl: does", drivers.ErrNotSupported)
	case n < 1 || n > regs.NodeMax:
		return nil, fmt.Errorf("%w: ideal: %d nodes; expected 1..%d", drivers.ErrConfig, n, regs.NodeMax)
	case mem < regs.SlotBytes:
		return nil, fmt.Errorf("%w: ideal: %d bytes of memory per node; expected at least %d", drivers.ErrConfig, mem, regs.SlotBytes)
	}
	s := &System{latency: latency, depth: depth, nodes: make([]node, n), tracer: tracer{sink: opt.Trace}}
	s.info = drivers.Info{
		URI: fmt.Sprintf("ideal:?latency=%d&depth=%d", latency, depth), Backend: "ideal",
		Nodes: n, VPIDs: regs.VPIDs, Dims: [3]int{n, 1, 1}, ClockPS: regs.ClockPS,
		DescHash: regs.DescHashValue, Hash: "ideal", Tool: "Go",
	}
	for i := range s.nodes {
		s.nodes[i] = node{s: s, id: i, mem: make([]byte, mem)}
		for v := range s.nodes[i].armPIO {
			s.nodes[i].armPIO[v] = unarmed
		}
	}
	return s, nil
}

// Info says what this is.
func (s *System) Info() drivers.Info { return s.info }

// Now is the current cycle.
func (s *System) Now() drivers.Cycle { return s.now }

// Device returns node's NIC.
func (s *System) Device(node int) drivers.Device { return &device{&s.nodes[node]} }

// Close ends the use of the system.
func (s *System) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return s.flush(drivers.Forever)
}

// PostReg posts a register write.
func (s *System) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	post(&s.nodes[node].regs, regOp{at: at, off: off, v: v})
}

// PostPIO posts a line to the send window.
func (s *System) PostPIO(node int, at drivers.Cycle, off uint32, data []byte) {
	l := line{at: at, off: off, n: len(data)}
	copy(l.data[:], data)
	post(&s.nodes[node].pio, l)
}

// PIOTaken counts lines that the NIC took or refused.
func (s *System) PIOTaken(node, vpid int) uint64 { return s.nodes[node].taken[vpid] }

// Run lets time pass; see drivers.Timed.
func (s *System) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: s.now, Fired: stop.Fired[:0]}
	if s.closed {
		return drivers.ErrClosed
	}
	for len(s.fired) == 0 && len(s.errs) == 0 && s.advance(deadline) {
	}
	stop.Now = s.now
	if err := s.flush(s.now); err != nil {
		return err
	}
	slices.SortFunc(s.fired, func(a, b drivers.Fired) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Watch, b.Watch), cmp.Compare(a.VPID, b.VPID))
	})
	stop.Fired = append(stop.Fired, s.fired...)
	s.fired = s.fired[:0]
	stop.Quiet = s.next() == drivers.Forever
	stop.Idle = stop.Quiet && s.empty()
	return s.refusals()
}

func (s *System) empty() bool {
	for i := range s.nodes {
		if !s.nodes[i].empty() {
			return false
		}
	}
	return true
}

// next is the first cycle at which anything happens by itself.
func (s *System) next() drivers.Cycle {
	t := drivers.Forever
	for i := range s.nodes {
		t = min(t, s.nodes[i].next())
	}
	if t != drivers.Forever {
		t = max(t, s.now)
	}
	return t
}

// advance performs all of the next cycle in which something happens, if that
// lies before the deadline; otherwise it moves time to the deadline.
func (s *System) advance(deadline drivers.Cycle) bool {
	t := s.next()
	if t >= deadline {
		if deadline != drivers.Forever {
			s.now = max(s.now, deadline)
		}
		return false
	}
	s.now = t
	for t <= s.now {
		for i := range s.nodes {
			s.nodes[i].step(s.now)
		}
		t = s.next()
	}
	return true
}

// read performs a register read and lets its time pass.
func (s *System) read(n *node, off uint32) (uint64, error) {
	if s.closed {
		return 0, drivers.ErrClosed
	}
	n.answer = answer{}
	post(&n.regs, regOp{at: s.now, off: off, read: true})
	for !n.answer.done {
		s.advance(drivers.Forever)
	}
	for end := s.now + readCycles; s.advance(end); {
	}
	if err := s.flush(s.now); err != nil {
		return 0, err
	}
	return n.answer.v, errors.Join(s.refusals(), n.answer.err)
}

// refusals are the errors since the last report.
func (s *System) refusals() error {
	err := errors.Join(s.errs...)
	s.errs = s.errs[:0]
	return err
}

func (s *System) fail(err error) { s.errs = append(s.errs, err) }

// device is the view of one node's software.
type device struct{ n *node }

func (d *device) ReadReg(off uint32) (uint64, error) { return d.n.s.read(d.n, off) }

func (d *device) WriteReg(off uint32, v uint64) error {
	if d.n.s.closed {
		return drivers.ErrClosed
	}
	d.n.s.PostReg(d.n.id, d.n.s.now, off, v)
	return nil
}

func (d *device) WritePIO(off uint32, data []byte) error {
	if d.n.s.closed {
		return drivers.ErrClosed
	}
	d.n.s.PostPIO(d.n.id, d.n.s.now, off, data)
	return nil
}

func (d *device) Memory() []byte { return d.n.mem }
