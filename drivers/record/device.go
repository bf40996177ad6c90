package record

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/translog"
)

const (
	grain   = 64         // bytes compared at a time
	maxPart = grain * 64 // maximum bytes of memory in one operation
)

// A device records the accesses to one node.
type device struct {
	drivers.Device
	s      *System
	node   int
	far    bool
	shadow []byte // memory according to the log, initially zero
	rings  rings
}

// A mover is a board whose memory is transferred by calls.
type mover interface {
	ReadMemory(ctx context.Context, off, n uint64) error
	WriteMemory(ctx context.Context, off uint64, p []byte) error
}

func newDevice(s *System, node int, under drivers.Device) *device {
	_, far := under.(mover)
	d := &device{Device: under, s: s, node: node, far: far, shadow: make([]byte, len(under.Memory()))}
	d.rings.none = s.under.Info().Registers != nil
	return d
}

// Capabilities lack CanSimulate and CanLend: the recorder controls neither clock nor memory
// sharing.
func (d *device) Capabilities() drivers.Capabilities {
	return d.Device.Capabilities() &^ (drivers.CanSimulate | drivers.CanLend)
}

// PacesPIO returns that of the recorded device.
func (d *device) PacesPIO() bool {
	p, ok := d.Device.(drivers.Pacer)
	return ok && p.PacesPIO()
}

func (d *device) ReadReg(off uint32) (uint64, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.memory()
	v, err := d.Device.ReadReg(off)
	return v, d.s.put(translog.Op{Kind: translog.ReadReg, Node: d.node, Off: uint64(off), Value: v}, err)
}

func (d *device) WriteReg(off uint32, v uint64) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.memory()
	d.rings.follow(d.Device, off, v)
	err := d.Device.WriteReg(off, v)
	return d.s.put(translog.Op{Kind: translog.WriteReg, Node: d.node, Off: uint64(off), Value: v}, err)
}

// WritePIO does not hold the lock while a store waits for an entry: another call may be what frees
// one.
func (d *device) WritePIO(off uint32, line []byte) error {
	o := translog.Op{Kind: translog.WritePIO, Node: d.node, Off: uint64(off), Data: line}
	d.s.mu.Lock()
	d.memory()
	if d.PacesPIO() {
		err := d.s.put(o, nil)
		d.s.mu.Unlock()
		if err != nil {
			return err
		}
		return d.Device.WritePIO(off, line)
	}
	defer d.s.mu.Unlock()
	return d.s.put(o, d.Device.WritePIO(off, line))
}

// final returns the registers that describe the final state of a node.
func (d *device) final() (list []uint32) {
	if m := d.s.under.Info().Registers; m != nil {
		return finalOf(m)
	}
	for _, r := range regs.Registers() {
		if strings.HasPrefix(r.Name, "WIRE_") || Compared(r.Offset) == 0 || r.Name == "ATU_COMMAND" || r.Name == "LINK_STATUS" || r.Name == "ROUTE" {
			continue
		}
		ofProcess := r.Offset >= regs.MboxBase(0) && r.Offset < regs.ATUBase(0)
		for i := range int(r.Count) {
			if strings.HasPrefix(r.Name, "LINK_") || ofProcess && !d.rings.used[i] {
				continue
			}
			list = append(list, r.Address(i))
		}
	}
	return list
}

// finalCopies bounds the copies of a register that are compared at the end: memories behind a
// register bus are described as registers with many copies.
const finalCopies = 256

// finalOf returns the registers of a design that describe its final state.
func finalOf(m *regmap.Map) (list []uint32) {
	for i := range m.Registers() {
		r := &m.Registers()[i]
		if r.Access == regmap.WO || r.Count > finalCopies || comparedIn(m, r.Offset) == 0 {
			continue
		}
		for n := range int(r.Count) {
			list = append(list, r.Address(n))
		}
	}
	return list
}

// memory records changes of memory since the last call. Memory of a remote board changes only in
// calls.
func (d *device) memory() {
	if !d.far {
		d.changed(0, len(d.shadow))
	}
}

// changed compares a part of memory by pages, then by grains, and merges adjacent differences.
func (d *device) changed(from, past int) {
	const page = 4096
	mem := d.Device.Memory()
	for from < past {
		end := min(from/page*page+page, past)
		if !bytes.Equal(mem[from:end], d.shadow[from:end]) {
			d.page(mem, from, end)
		}
		from = end
	}
}

func (d *device) page(mem []byte, from, end int) {
	differs := func(at int) bool {
		past := min(at+grain, end)
		return !bytes.Equal(mem[at:past], d.shadow[at:past])
	}
	for from < end {
		past := min(from+grain, end)
		switch {
		case !differs(from):
		case d.rings.at(uint64(from)) != nil:
			d.entries(mem, from, past)
		default:
			for past < end && past-from < maxPart && differs(past) && d.rings.at(uint64(past)) == nil {
				past = min(past+grain, end)
			}
			kind := translog.Changed
			if d.far { // software stores by WriteMemory
				kind = translog.Memory
			}
			d.keep(kind, mem, from, past)
		}
		from = past
	}
}

// entries records the complete entries of a ring: those whose last word is new.
func (d *device) entries(mem []byte, from, past int) {
	for at := from; at < past; {
		r := d.rings.at(uint64(at))
		if r == nil {
			at += 8
			continue
		}
		begin := int(r.base + (uint64(at)-r.base)/r.entry*r.entry)
		end := begin + int(r.entry)
		if !bytes.Equal(mem[end-8:end], d.shadow[end-8:end]) {
			d.keep(translog.Memory, mem, begin, end)
		}
		at = end
	}
}

func (d *device) keep(kind translog.Kind, mem []byte, from, past int) {
	copy(d.shadow[from:past], mem[from:past])
	if !d.s.closed {
		d.s.log.Append(&translog.Op{Kind: kind, Node: d.node, Off: uint64(from), Data: d.shadow[from:past]})
	}
}

// A farDevice records a board whose memory is transferred by calls.
type farDevice struct {
	*device
	mover mover
}

func (d *farDevice) ReadMemory(ctx context.Context, off, n uint64) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	err := d.mover.ReadMemory(ctx, off, n)
	if err == nil {
		d.changed(int(off), int(off+n))
	}
	return errors.Join(err, d.s.log.Err())
}

func (d *farDevice) WriteMemory(ctx context.Context, off uint64, p []byte) error {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if err := d.mover.WriteMemory(ctx, off, p); err != nil {
		return err
	}
	copy(d.shadow[off:], p)
	return d.s.put(translog.Op{Kind: translog.Store, Node: d.node, Off: off, Data: p}, nil)
}

// Await returns a Waiter whose waits are recorded when they return.
func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	under, err := d.Device.Await(c)
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if err := d.s.put(translog.Op{Kind: translog.Await, Node: d.node, Off: c.Off, Len: c.Bytes}, err); err != nil {
		return nil, err
	}
	return &waiter{d, c, under}, nil
}

type waiter struct {
	d     *device
	cause drivers.Cause
	under drivers.Waiter
}

func (w *waiter) Wait(ctx context.Context) error {
	err := w.under.Wait(ctx)
	d := w.d
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.far && w.cause != drivers.Interrupt {
		d.changed(int(w.cause.Off), int(w.cause.Off+w.cause.Bytes))
	} else {
		d.memory()
	}
	return d.s.put(translog.Op{Kind: translog.Wait, Node: d.node, Off: w.cause.Off, Len: w.cause.Bytes}, err)
}

func (w *waiter) Close() error { return w.under.Close() }
