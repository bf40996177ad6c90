package lockstep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Side opens systems that are compared with those of the other side.
type Side struct {
	pair  *Pair
	index int

	ended   bool
	stop    stop                 // of the last call
	opened  int                  // number of systems
	current *system              // the last of them
	info    drivers.Info         // of the current system
	seen    []drivers.TraceEvent // traced, but not yet compared
	finals  []final              // registers of the closed system
	closing bool
	slow    []slowRange // memory behind write limiters

	unregister func() bool // cancels the call of End at the end of the context; nil: none registered
}

// A slowRange is memory behind a write limiter.
type slowRange struct {
	node      int
	base, end uint64
}

// noteSlow tracks the registers of write limiters.
func (s *Side) noteSlow(node int, off uint32, v uint64) {
	r, _, ok := regs.ByAddress(off)
	switch {
	case !ok:
	case r.Name == "NVM_BASE":
		s.slow = append(s.slow, slowRange{node: node, base: v, end: ^uint64(0)})
	case r.Name == "NVM_END" && len(s.slow) > 0:
		s.slow[len(s.slow)-1].end = v
	}
}

// Open is registry.Open for a system that is compared.
func (s *Side) Open(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
	opt.Checkpoints, opt.Threads = nil, 1
	sink := &side{Side: s, next: opt.Trace}
	opt.Trace = sink
	inner, err := registry.Open(ctx, uri, opt)
	if err != nil {
		return nil, err
	}
	timed, ok := inner.(drivers.Timed)
	if !ok {
		inner.Close()
		return nil, fmt.Errorf("%w: %s has no simulated time, so nothing can be compared with it", drivers.ErrNotSupported, uri)
	}
	p := s.pair
	p.mu.Lock()
	s.info = timed.Info()
	s.opened++
	s.current = &system{Timed: timed, side: s, ctx: ctx}
	p.mu.Unlock()
	s.stopWhenDone(ctx)
	if err := s.meet(stop{what: "a system is opened", quiet: true, at: timed.Now(), node: -1, value: fmt.Sprintf("system %d of %d nodes", s.opened, s.info.Nodes)}); err != nil {
		timed.Close()
		return nil, err
	}
	return s.current, s.current.level(&drivers.Stop{})
}

// stopWhenDone ends the side when ctx ends, so that the other side no longer waits for it. It
// replaces the registration of an earlier system; End removes the last one, otherwise ctx would
// keep the side and its systems alive.
func (s *Side) stopWhenDone(ctx context.Context) {
	unregister := context.AfterFunc(ctx, s.End)
	s.pair.mu.Lock()
	previous := s.unregister
	s.unregister = unregister
	s.pair.mu.Unlock()
	if previous != nil {
		previous()
	}
}

func (s *Side) meet(what stop) error { return s.pair.meet(s, what) }

// A side is the trace sink of a system.
type side struct {
	*Side
	next drivers.TraceSink
}

// Trace implements drivers.TraceSink.
func (s *side) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		if e.Point == drivers.PointPIO && regs.ForDescriptors(uint32(e.Data)) {
			continue // nic_trace shows lines of VELO only
		}
		s.seen = append(s.seen, e)
	}
	if s.next == nil {
		return nil
	}
	return s.next.Trace(events)
}

// A system is a drivers.Timed whose results are compared.
type system struct {
	drivers.Timed
	side   *Side
	ctx    context.Context // the system is closed when it ends
	closed bool
}

// Run implements drivers.Timed. After a divergence it returns when the side has run far enough.
func (s *system) Run(deadline drivers.Cycle, st *drivers.Stop) error {
	p := s.side.pair
	p.mu.Lock()
	if p.parted {
		deadline = min(deadline, max(p.until, s.Timed.Now()))
	}
	p.mu.Unlock()
	err := s.Timed.Run(deadline, st)
	quiet := deadline == drivers.Forever && len(st.Fired) == 0 && err == nil
	refused := isRefusal(err)
	what := stop{what: "what stops the run", at: s.Timed.Now(), node: -1, quiet: quiet || refused, value: stopText(st, quiet, err)}
	if len(st.Fired) > 0 {
		what.node, what.block = st.Fired[0].Node, firedBlocks[st.Fired[0].Kind]
	}
	var asserted *drivers.AssertionError
	if errors.As(err, &asserted) {
		what.node, what.block = asserted.Node, asserted.Instance
	}
	if met := s.side.meet(what); met != nil && asserted == nil {
		return met
	}
	if quiet || refused {
		err = errors.Join(err, s.level(st))
	}
	return err
}

// firedBlocks are the blocks responsible for events that stop a run.
var firedBlocks = map[drivers.FiredKind]string{drivers.FiredWatch: blockMemory, drivers.FiredPIO: blockWindow, drivers.FiredIRQ: blockRegfile}

// isRefusal: the NIC refused a write. The RTL reports that a cycle later than the model.
func isRefusal(err error) bool {
	var bus *drivers.BusError
	return errors.As(err, &bus)
}

// level lets the side that detected idleness earlier wait for the other: the time of detection is
// not a property of the hardware.
func (s *system) level(st *drivers.Stop) error {
	to := s.side.pair.latest()
	if s.Timed.Now() >= to {
		return nil
	}
	var more drivers.Stop
	err := s.Timed.Run(to, &more)
	st.Now, st.Fired = more.Now, append(st.Fired, more.Fired...)
	return err
}

func stopText(st *drivers.Stop, quiet bool, err error) string {
	var text string
	for _, f := range st.Fired {
		switch f.Kind {
		case drivers.FiredWatch:
			text += fmt.Sprintf("write to watched memory %d of node %d, ", f.Watch, f.Node)
		case drivers.FiredPIO:
			text += fmt.Sprintf("line of process %d of node %d taken, ", f.VPID, f.Node)
		case drivers.FiredIRQ:
			text += fmt.Sprintf("interrupt of node %d, ", f.Node)
		}
	}
	switch {
	case err != nil:
		text += err.Error()
	case quiet && st.Idle:
		text += "everything is empty"
	case quiet:
		text += "nothing moves, but something is held"
	case text == "":
		text = "the time that was asked for"
	}
	return strings.TrimSuffix(text, ", ")
}

// PostReg implements drivers.Timed.
func (s *system) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	s.side.noteSlow(node, off, v)
	s.Timed.PostReg(node, at, off, v)
}

// Device implements drivers.System.
func (s *system) Device(node int) drivers.Device { return &device{s.Timed.Device(node), s, node} }

// Close compares registers and memory, unless the sides have diverged already, and closes the
// system.
func (s *system) Close() error {
	if !s.closed && s.ctx.Err() == nil {
		s.closed = true
		s.side.settle(s.Timed)
	}
	return s.Timed.Close()
}

// A device compares register values.
type device struct {
	drivers.Device
	sys  *system
	node int
}

// ReadReg implements drivers.Device.
func (d *device) ReadReg(off uint32) (uint64, error) {
	v, err := d.Device.ReadReg(off)
	what := stop{what: regs.Describe(off), at: d.sys.Timed.Now(), node: d.node, block: blockOfRegister(off), value: fmt.Sprintf("0x%x", v), register: true}
	if err != nil {
		what.value = err.Error()
	}
	if met := d.sys.side.meet(what); met != nil {
		return v, met
	}
	return v, err
}

// WriteReg implements drivers.Device.
func (d *device) WriteReg(off uint32, v uint64) error {
	d.sys.side.noteSlow(d.node, off, v)
	return d.Device.WriteReg(off, v)
}

// settle reads all registers, to compare them with those of the other side.
func (s *Side) settle(t drivers.Timed) {
	if s.pair.mode == Packets || s.stopped() {
		return
	}
	if s.meet(stop{what: "what the software does", value: "a system is closed", at: t.Now(), node: -1}) != nil || s.stopped() {
		return
	}
	idle := rest(t)
	s.finals = s.finals[:0]
	for n := range s.info.Nodes {
		dev := t.Device(n)
		for _, r := range regs.Registers() {
			if !lasting(&r) || !idle && strings.HasSuffix(r.Name, "STALL") { // stall counters continue to count
				continue
			}
			for i := range int(r.Count) {
				v, err := dev.ReadReg(r.Address(i))
				value := fmt.Sprintf("0x%x", v)
				if err != nil {
					value = "refused"
				}
				s.finals = append(s.finals, final{n, r.Address(i), value})
			}
		}
	}
	s.closing = true
	_ = s.meet(stop{what: "a system is closed", at: t.Now(), node: -1}) // a divergence is reported by the next call
}

// restCycles suffice for everything in flight to arrive, if it can.
const restCycles = 20_000

// rest lets everything in flight arrive, and reports whether the system is idle.
func rest(t drivers.Timed) (idle bool) {
	var stop drivers.Stop
	for end := t.Now() + restCycles; t.Now() < end; {
		if err := t.Run(end, &stop); err != nil && !isRefusal(err) {
			return false
		}
	}
	return stop.Idle
}

// lasting: the register describes the behaviour of the hardware, not its identity or the time of
// the read.
func lasting(r *regs.Register) bool {
	return r.Name != "DESC_HASH" && r.Name != "VERSION" && r.Name != "CYCLES"
}

func (s *Side) stopped() bool {
	s.pair.mu.Lock()
	defer s.pair.mu.Unlock()
	return s.pair.parted || s.pair.astray || s.pair.other(s).ended
}
