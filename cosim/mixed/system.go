package mixed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A System is the mesh.
type System struct {
	info    drivers.Info
	isRTL   []bool // by node
	rtl     *bridge.Session
	machine *nic.Machine
	part    *nic.Part    // the whole machine
	fabric  *fabric.Part // the same of its network
	border  border
	trace   *merger // or nil
	watches []watch
	sides   [2][]drivers.WatchID // of the model and the RTL: the watch by their own number

	now drivers.Cycle // both sides have simulated up to here
	// wakes is the first cycle in which the RTL may have work. Before it the simulator may be
	// behind.
	wakes     drivers.Cycle
	armed     bool // an event armed at the simulator may have happened already
	fired     []drivers.Fired
	rtlErrors []error              // errors of the RTL since the last report
	met       drivers.Cycle        // cycle of the first of these
	lead      func() drivers.Cycle // limit of the RTL's lead, or nil
	reads     bool                 // during a register read: nothing stops
	stop      drivers.Stop

	waiters drivers.Waiters

	broken error // why the system has ended
	misuse error // reported by the next call that advances time
	mu     sync.Mutex
	closed atomic.Bool
}

var _ drivers.RunAheadSystem = (*System)(nil)

// A watch on one side.
type watch struct {
	rtl bool
	id  drivers.WatchID
}

func newSystem(r *request) *System {
	s := &System{isRTL: make([]bool, r.params.Dims[0]*r.params.Dims[1]*r.params.Dims[2]), wakes: 1}
	for _, n := range r.nodes {
		s.isRTL[n] = true
	}
	s.border.init(s, r)
	return s
}

// Info says what was opened.
func (s *System) Info() drivers.Info { return s.info }

// Pid is the simulator's process, for tests that kill it.
func (s *System) Pid() int { return s.rtl.Pid() }

// Now is the current cycle.
func (s *System) Now() drivers.Cycle { return s.now }

// Close ends the simulator and frees everything. A Run in another goroutine returns ErrClosed.
func (s *System) Close() error {
	if s.closed.Swap(true) {
		return s.rtl.Close()
	}
	err := errors.Join(s.rtl.Close(), s.machine.Close())
	if s.trace != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = errors.Join(err, s.trace.flush(drivers.Forever))
	}
	return err
}

// enter acquires the system for a call that advances time; s.mu.Unlock releases it.
func (s *System) enter() error {
	s.mu.Lock()
	err := s.broken
	if s.closed.Load() {
		err = drivers.ErrClosed
	} else if err == nil && s.misuse != nil {
		err, s.misuse = s.misuse, nil
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// fail ends the system with an error.
func (s *System) fail(err error) error {
	if s.broken == nil {
		s.broken = err
	}
	return s.broken
}

// ---- software ----

// CanRunAhead implements drivers.RunAheadSystem.
func (s *System) CanRunAhead(node int) bool { return s.isRTL[node] }

// RunAhead implements drivers.RunAheadSystem.
func (s *System) RunAhead(until func() drivers.Cycle) { s.lead = until }

// wake records a cycle from which on the RTL may have work.
func (s *System) wake(at drivers.Cycle) { s.wakes = min(s.wakes, max(at, s.now+1)) }

// PostReg posts a register write.
func (s *System) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	if !s.isRTL[node] {
		s.machine.PostReg(node, at, off, v)
		return
	}
	if isFault(off, v) {
		s.misuse = cmp.Or(s.misuse, fmt.Errorf("%w: node %d: %s: links to nodes of the model cannot break, drain or be reset; use rtl: or model: for that",
			drivers.ErrNotSupported, node, regs.Describe(off)))
		return
	}
	s.rtl.PostReg(node, at, off, v)
	s.wake(at + 1)
}

// PostPIO posts a line to the send window.
func (s *System) PostPIO(node int, at drivers.Cycle, off uint32, line []byte) {
	if !s.isRTL[node] {
		s.machine.PostPIO(node, at, off, line)
		return
	}
	if regs.ForDescriptors(off) {
		s.fabric.Mix() // its packets arrive many cycles later
	}
	s.rtl.PostPIO(node, at, off, line)
	s.wake(at + 1)
}

// isFault reports whether a write injects wire faults, or drains or resets a link.
func isFault(off uint32, v uint64) bool {
	const links = 6
	if wire := off>>12 - regs.WireErrors(0)>>12; wire < links {
		return true
	}
	link := off>>12 - regs.LinkCtrl(0)>>12
	return link < links && off == regs.LinkCtrl(uint8(link)) && v&(regs.LinkCtrlDrain|regs.LinkCtrlReset) != 0
}

// PIOTaken counts the lines that no longer occupy a window entry; see drivers.Timed.
func (s *System) PIOTaken(node, vpid int) uint64 {
	if s.isRTL[node] {
		return s.rtl.PIOTaken(node, vpid)
	}
	return s.machine.PIOTaken(node, vpid)
}

// Watch registers a range of a node's memory.
func (s *System) Watch(node int, off, n uint64) (id drivers.WatchID, err error) {
	if node < 0 || node >= len(s.isRTL) {
		return 0, fmt.Errorf("%w: watch on node %d; expected 0..%d", drivers.ErrConfig, node, len(s.isRTL)-1)
	}
	side := 0
	if s.isRTL[node] {
		side = 1
		id, err = s.rtl.Watch(node, off, n)
	} else {
		id, err = s.machine.Watch(node, off, n)
	}
	if err != nil {
		return 0, err
	}
	s.watches = append(s.watches, watch{side == 1, id})
	s.sides[side] = append(s.sides[side], drivers.WatchID(len(s.watches)-1))
	return drivers.WatchID(len(s.watches) - 1), nil
}

// Arm makes the next write to a watched range stop Run.
func (s *System) Arm(id drivers.WatchID) {
	if w := s.watches[id]; w.rtl {
		s.rtl.Arm(w.id)
	} else {
		s.machine.Arm(w.id)
	}
}

// ArmPIO makes Run stop when PIOTaken reaches count.
func (s *System) ArmPIO(node, vpid int, count uint64) {
	if s.isRTL[node] {
		s.rtl.ArmPIO(node, vpid, count)
		s.armed = s.armed || s.rtl.PIOTaken(node, vpid) >= count
	} else {
		s.machine.ArmPIO(node, vpid, count)
	}
}

// ArmIRQ makes Run stop while the node's interrupt line is asserted.
func (s *System) ArmIRQ(node int) {
	if s.isRTL[node] {
		s.rtl.ArmIRQ(node)
		s.armed = true
	} else {
		s.machine.ArmIRQ(node)
	}
}

// Device is one node's NIC.
func (s *System) Device(node int) drivers.Device { return device{s, node} }

type device struct {
	s    *System
	node int
}

func (d device) ReadReg(off uint32) (uint64, error) { return d.s.read(d.node, off) }

func (d device) WriteReg(off uint32, v uint64) error {
	d.s.PostReg(d.node, d.s.now, off, v)
	return d.s.err()
}

func (d device) WritePIO(off uint32, line []byte) error {
	if err := d.s.rtl.CheckPIO(d.node, off, line); err != nil {
		return err
	}
	d.s.PostPIO(d.node, d.s.now, off, line)
	return d.s.err()
}

func (d device) Memory() []byte {
	if d.s.isRTL[d.node] {
		return d.s.rtl.Memory(d.node)
	}
	return d.s.part.Memory(d.node)
}

// Now lets a poller detect whether the clock advances (drivers/stall).
func (d device) Now() drivers.Cycle { return d.s.Now() }

// Segments is nil: memory starts at address 0 on both sides.
func (d device) Segments() []drivers.Segment { return nil }

func (d device) Capabilities() drivers.Capabilities {
	return drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanSimulate | drivers.CanAnswerWrites
}

func (d device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return d.s.waiters.Await(d.s, d.node, c)
}

// err is the reason why the system has ended.
func (s *System) err() error {
	if s.closed.Load() {
		return drivers.ErrClosed
	}
	return cmp.Or(s.broken, s.rtl.Err())
}

// ---- fired events ----

// takeFired records the events fired in a step of the simulator, with the caller's watch IDs.
func (s *System) takeFired(list []drivers.Fired) {
	for _, f := range list {
		s.fired = append(s.fired, s.named(f, 1))
	}
}

func (s *System) named(f drivers.Fired, side int) drivers.Fired {
	if f.Kind == drivers.FiredWatch {
		f.Watch = s.sides[side][f.Watch]
	}
	return f
}

// stops reports whether there is something to report.
func (s *System) stops() bool { return s.rtlStops() && s.now >= s.met || s.part.Stops() }

// rtlStops reports whether the RTL has something to report, possibly ahead.
func (s *System) rtlStops() bool { return len(s.fired)+len(s.rtlErrors) > 0 }

// report fills stop, and returns the refused accesses.
func (s *System) report(stop *drivers.Stop) error {
	list, err := s.part.Report(stop.Fired)
	for i := range list {
		list[i] = s.named(list[i], 0)
	}
	if s.now >= s.met {
		list = append(list, s.fired...)
		if len(s.fired) > 0 && len(list) > 1 {
			slices.SortFunc(list, byNode)
		}
		s.fired = s.fired[:0]
		if len(s.rtlErrors) > 0 {
			err = errors.Join(append(s.rtlErrors, err)...)
			s.rtlErrors = s.rtlErrors[:0]
		}
	}
	stop.Now, stop.Fired = s.now, list
	if stop.Quiet = s.quiet(); stop.Quiet {
		s.border.forget()
		stop.Idle = s.stop.Idle && s.part.Empty() && s.border.empty()
	}
	s.waiters.NoteStop(stop)
	return err
}
