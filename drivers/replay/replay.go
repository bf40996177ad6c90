package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/translog"
	"github.com/nicloop/nicloop/drivers/userfile"
)

func init() {
	registry.Register(registry.Backend{Scheme: "replay", Doc: "a recorded transaction log: replay:FILE", Open: open, Validate: validate})
}

// validate checks that the log exists.
func validate(path string, _ map[string]string) error {
	if path == "" {
		return fmt.Errorf("%w: replay: expected replay:FILE", drivers.ErrConfig)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: replay: %w", drivers.ErrConfig, err)
	}
	return nil
}

// A DivergenceError reports the first call that differs from the log.
type DivergenceError struct {
	Index    uint64 // number of the operation in the log, as in its text dump
	Cycle    drivers.Cycle
	Expected string
	Found    string
}

func (e *DivergenceError) Error() string {
	return fmt.Sprintf("replay diverged at operation %d (cycle %d): expected %q, found %q", e.Index, e.Cycle, e.Expected, e.Found)
}

// An UnconsumedError reports that the system was closed before the end of the log.
type UnconsumedError struct {
	Index, Left uint64 // the first remaining operation, and the number of remaining ones
	Next        string
}

func (e *UnconsumedError) Error() string {
	return fmt.Sprintf("replay closed with %d operations left; operation %d was next: %q", e.Left, e.Index, e.Next)
}

func open(_ context.Context, path string, _ map[string]string, opt drivers.Options) (drivers.System, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: replay: expected replay:FILE", drivers.ErrConfig)
	}
	data, err := userfile.Read(path, userfile.LogLimit)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	sys, err := New(data, opt)
	if err != nil {
		return nil, fmt.Errorf("replay:%s: %w", path, err)
	}
	return sys, nil
}

// New plays data, which it retains. The result is a drivers.Timed if the recorded
// system was one.
func New(data []byte, opt drivers.Options) (drivers.System, error) {
	r, err := translog.NewReader(data)
	if err != nil {
		return nil, err
	}
	if err := check(&r.Meta, opt); err != nil {
		return nil, err
	}
	needs := 0.0
	for _, size := range r.Meta.Memory {
		needs += float64(size)
	}
	if err := limits.CheckMemory("the memory of the recorded nodes", needs, "the memory with which it is recorded"); err != nil {
		return nil, err
	}
	s := &System{log: r, info: r.Meta.Info}
	s.info.Backend = "replay"
	for _, size := range r.Meta.Memory {
		s.mem = append(s.mem, make([]byte, size))
	}
	s.advance()
	if r.Meta.Timed {
		return &Timed{s}, nil
	}
	return s, nil
}

func check(m *translog.Meta, opt drivers.Options) error {
	switch {
	case opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil:
		return fmt.Errorf("%w: a recorded log has neither trace nor waveforms", drivers.ErrNotSupported)
	case m.Info.DescHash != regs.DescHashValue:
		return fmt.Errorf("%w: recorded with registers of description %016x, this program has %016x: play it with the version that recorded it",
			drivers.ErrConfig, m.Info.DescHash, regs.DescHashValue)
	case opt.Nodes != 0 && opt.Nodes != m.Info.Nodes:
		return fmt.Errorf("%w: %d nodes asked for, the log has %d", drivers.ErrConfig, opt.Nodes, m.Info.Nodes)
	case opt.MemoryBytes > m.Memory[0]:
		return fmt.Errorf("%w: %d bytes of memory asked for, the log has %d", drivers.ErrConfig, opt.MemoryBytes, m.Memory[0])
	}
	return nil
}

// System plays a log. After an error, every call returns it.
type System struct {
	log    *translog.Reader
	info   drivers.Info
	mem    [][]byte
	now    drivers.Cycle
	next   translog.Op // valid unless end
	end    error       // io.EOF, or the error in the log
	err    error
	closed bool

	waiters drivers.Waiters
}

// Info returns that of the recorded system, as a replay.
func (s *System) Info() drivers.Info { return s.info }

// Device returns a node's NIC.
func (s *System) Device(node int) drivers.Device {
	_ = s.mem[node]
	return &device{s, node}
}

// advance reads the next call and applies the memory writes before it.
func (s *System) advance() {
	for {
		s.end = s.log.Next(&s.next)
		if s.end != nil {
			return
		}
		switch s.next.Kind {
		case translog.Memory, translog.Store, translog.Changed:
		default:
			return
		}
		copy(s.mem[s.next.Node][s.next.Off:], s.next.Data)
	}
}

// call compares a call with the log and fills in the recorded result.
func (s *System) call(o *translog.Op) error {
	switch {
	case s.closed:
		return drivers.ErrClosed
	case s.err != nil:
		return s.err
	case s.end == io.EOF:
		s.err = &DivergenceError{s.log.Count(), s.now, "the end of the log", o.Call()}
	case s.end != nil:
		s.err = s.end
	case !s.next.SameCall(o):
		s.err = &DivergenceError{s.log.Count() - 1, s.now, s.next.Call(), o.Call()}
	}
	if s.err != nil {
		return s.err
	}
	n := &s.next
	o.Value, o.ID, o.Err = n.Value, n.ID, n.Err
	if o.Kind == translog.Run {
		fired := append(o.Stop.Fired[:0], n.Stop.Fired...)
		o.Stop = n.Stop
		o.Stop.Fired = fired
	}
	if o.Kind == translog.Run || o.Kind == translog.ReadReg && s.log.Meta.Timed {
		s.now = n.Stop.Now
	}
	s.advance()
	return nil
}

// Close ends the playback; operations that are left are an error.
func (s *System) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.err != nil {
		return s.err
	}
	if s.end != nil {
		if s.end == io.EOF {
			return nil
		}
		return s.end
	}
	e := &UnconsumedError{Index: s.log.Count() - 1, Next: s.next.Call()}
	for s.end == nil {
		e.Left++
		s.advance()
	}
	if s.end != io.EOF {
		return errors.Join(e, s.end)
	}
	return e
}

type device struct {
	s    *System
	node int
}

func (d *device) ReadReg(off uint32) (uint64, error) {
	o := translog.Op{Kind: translog.ReadReg, Node: d.node, Off: uint64(off)}
	if err := d.s.call(&o); err != nil {
		return 0, err
	}
	return o.Value, o.Err.AsError()
}

func (d *device) WriteReg(off uint32, v uint64) error {
	o := translog.Op{Kind: translog.WriteReg, Node: d.node, Off: uint64(off), Value: v}
	return errors.Join(d.s.call(&o), o.Err.AsError())
}

func (d *device) WritePIO(off uint32, line []byte) error {
	o := translog.Op{Kind: translog.WritePIO, Node: d.node, Off: uint64(off), Data: line}
	return errors.Join(d.s.call(&o), o.Err.AsError())
}

func (d *device) Memory() []byte { return d.s.mem[d.node] }

func (d *device) Segments() []drivers.Segment {
	if list := d.s.log.Meta.Segments; list != nil {
		return list[d.node]
	}
	return nil
}

// Capabilities lack waits of an untimed device: its log does not have them.
func (d *device) Capabilities() drivers.Capabilities {
	c := drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanAnswerWrites
	if d.s.log.Meta.Timed {
		c |= drivers.CanSimulate
	}
	return c
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	if d.s.log.Meta.Timed {
		return d.s.waiters.Await(&Timed{d.s}, d.node, c)
	}
	if d.s.log.Meta.Ordered {
		o := translog.Op{Kind: translog.Await, Node: d.node, Off: c.Off, Len: c.Bytes}
		if err := errors.Join(d.s.call(&o), o.Err.AsError()); err != nil {
			return nil, err
		}
		return recordedWaiter{d, c}, nil
	}
	return waiter{d.s}, nil
}

// A recordedWaiter is a Waiter whose waits are in the log.
type recordedWaiter struct {
	d *device
	c drivers.Cause
}

func (w recordedWaiter) Wait(context.Context) error {
	o := translog.Op{Kind: translog.Wait, Node: w.d.node, Off: w.c.Off, Len: w.c.Bytes}
	return errors.Join(w.d.s.call(&o), o.Err.AsError())
}

func (w recordedWaiter) Close() error { return nil }

// A waiter returns at once: memory changes at the next call.
type waiter struct{ s *System }

func (w waiter) Wait(context.Context) error {
	switch {
	case w.s.closed:
		return drivers.ErrClosed
	case w.s.end != nil:
		return drivers.ErrQuiescent
	}
	return nil
}

func (w waiter) Close() error { return nil }
