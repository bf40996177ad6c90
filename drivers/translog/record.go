package translog

import (
	"bytes"
	"errors"
	"io"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
)

// A Range of a device's memory.
type Range struct{ Off, Len uint64 }

// recorder holds what both kinds of recorders share.
type recorder struct {
	*Writer
	regions []region
	op      Op // reused
}

// region is a part of memory that the device writes to.
type region struct {
	node   int
	off    uint64
	mem    []byte
	shadow []byte
}

func (r *recorder) watch(node int, off uint64, mem []byte) {
	r.regions = append(r.regions, region{node, off, mem, bytes.Clone(mem)})
}

// memory records the changes in the regions since the last call.
func (r *recorder) memory() {
	const page = 4096
	for i := range r.regions {
		g := &r.regions[i]
		for at := 0; at < len(g.mem); at += page {
			end := min(at+page, len(g.mem))
			if !bytes.Equal(g.mem[at:end], g.shadow[at:end]) {
				r.slots(g, at, end)
			}
		}
	}
}

func (r *recorder) slots(g *region, at, end int) {
	for ; at < end; at += regs.SlotBytes {
		stop := min(at+regs.SlotBytes, end)
		if now := g.mem[at:stop]; !bytes.Equal(now, g.shadow[at:stop]) {
			copy(g.shadow[at:stop], now)
			r.Append(&Op{Kind: Memory, Node: g.node, Off: g.off + uint64(at), Data: g.shadow[at:stop]})
		}
	}
}

// put records a call that does not depend on the device's memory.
func (r *recorder) put(o Op) {
	r.op = o
	r.Append(&r.op)
}

// A Recorder records the calls of a Device.
type Recorder struct {
	recorder
	under drivers.Device
}

var _ drivers.Device = (*Recorder)(nil)

// Record wraps a device. ranges are the parts of its memory that the device writes to and software
// reads; a change is recorded at the next call.
func Record(dev drivers.Device, w io.Writer, ranges ...Range) *Recorder {
	mem := dev.Memory()
	info := drivers.Info{Backend: "device", Nodes: 1, VPIDs: regs.VPIDs, ClockPS: regs.ClockPS, DescHash: regs.DescHashValue}
	r := &Recorder{under: dev}
	m := Meta{Info: info, Memory: []int{len(mem)}}
	if list := dev.Segments(); list != nil {
		m.Segments = [][]drivers.Segment{list}
	}
	r.Writer = NewWriter(w, m)
	for _, g := range ranges {
		r.watch(0, g.Off, mem[g.Off:g.Off+g.Len])
	}
	return r
}

// ReadReg reads a register.
func (r *Recorder) ReadReg(off uint32) (uint64, error) {
	r.memory()
	v, err := r.under.ReadReg(off)
	r.put(Op{Kind: ReadReg, Off: uint64(off), Value: v, Err: NewFailure(err)})
	return v, err
}

// WriteReg writes a register.
func (r *Recorder) WriteReg(off uint32, v uint64) error {
	r.memory()
	err := r.under.WriteReg(off, v)
	r.put(Op{Kind: WriteReg, Off: uint64(off), Value: v, Err: NewFailure(err)})
	return err
}

// WritePIO writes a line.
func (r *Recorder) WritePIO(off uint32, line []byte) error {
	r.memory()
	err := r.under.WritePIO(off, line)
	r.put(Op{Kind: WritePIO, Off: uint64(off), Data: line, Err: NewFailure(err)})
	return err
}

// Memory returns that of the device.
func (r *Recorder) Memory() []byte { return r.under.Memory() }

// Segments returns those of the device.
func (r *Recorder) Segments() []drivers.Segment { return r.under.Segments() }

// Capabilities returns those of the device.
func (r *Recorder) Capabilities() drivers.Capabilities { return r.under.Capabilities() }

// Await returns the device's Waiter. Waits are not recorded: their effect shows in memory before
// the next call.
func (r *Recorder) Await(c drivers.Cause) (drivers.Waiter, error) { return r.under.Await(c) }

// Close ends the log; the device stays open.
func (r *Recorder) Close() error {
	r.memory()
	return r.Writer.Close()
}

// A TimedRecorder records the calls of a Timed system.
type TimedRecorder struct {
	recorder
	under   drivers.Timed
	waiters drivers.Waiters
}

var _ drivers.Timed = (*TimedRecorder)(nil)

// RecordTimed wraps a Timed system. The log has the device's writes to watched ranges.
func RecordTimed(sys drivers.Timed, w io.Writer) *TimedRecorder {
	m := Meta{Info: sys.Info(), Timed: true, Segments: segment.Of(sys)}
	for n := range m.Info.Nodes {
		m.Memory = append(m.Memory, len(sys.Device(n).Memory()))
	}
	r := &TimedRecorder{under: sys}
	r.Writer = NewWriter(w, m)
	return r
}

// Info returns that of the recorded system.
func (r *TimedRecorder) Info() drivers.Info { return r.under.Info() }

// Now returns the current cycle. It follows from the other calls and is not recorded.
func (r *TimedRecorder) Now() drivers.Cycle { return r.under.Now() }

// Device returns a node's NIC, whose calls are recorded, too.
func (r *TimedRecorder) Device(node int) drivers.Device {
	return &timedDevice{r, node, r.under.Device(node)}
}

// PostReg posts a register write.
func (r *TimedRecorder) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	r.put(Op{Kind: PostReg, Node: node, At: at, Off: uint64(off), Value: v})
	r.under.PostReg(node, at, off, v)
}

// PostPIO posts a line.
func (r *TimedRecorder) PostPIO(node int, at drivers.Cycle, off uint32, line []byte) {
	r.put(Op{Kind: PostPIO, Node: node, At: at, Off: uint64(off), Data: line})
	r.under.PostPIO(node, at, off, line)
}

// PIOTaken counts the lines taken.
func (r *TimedRecorder) PIOTaken(node, vpid int) uint64 {
	v := r.under.PIOTaken(node, vpid)
	r.put(Op{Kind: PIOTaken, Node: node, VPID: vpid, Value: v})
	return v
}

// Watch registers a range; device writes to it are recorded from now on.
func (r *TimedRecorder) Watch(node int, off, n uint64) (drivers.WatchID, error) {
	id, err := r.under.Watch(node, off, n)
	r.put(Op{Kind: Watch, Node: node, Off: off, Len: n, ID: id, Err: NewFailure(err)})
	if err == nil {
		r.watch(node, off, r.under.Device(node).Memory()[off:off+n])
	}
	return id, err
}

// Arm arms a watch.
func (r *TimedRecorder) Arm(id drivers.WatchID) {
	r.put(Op{Kind: Arm, ID: id})
	r.under.Arm(id)
}

// ArmPIO arms a count of lines.
func (r *TimedRecorder) ArmPIO(node, vpid int, count uint64) {
	r.put(Op{Kind: ArmPIO, Node: node, VPID: vpid, Value: count})
	r.under.ArmPIO(node, vpid, count)
}

// ArmIRQ arms an interrupt.
func (r *TimedRecorder) ArmIRQ(node int) {
	r.put(Op{Kind: ArmIRQ, Node: node})
	r.under.ArmIRQ(node)
}

// Run advances time.
func (r *TimedRecorder) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	err := r.under.Run(deadline, stop)
	r.put(Op{Kind: Run, At: deadline, Stop: *stop, Err: NewFailure(err)})
	r.memory()
	r.waiters.NoteStop(stop)
	return errors.Join(err, r.Err())
}

// Close closes the recorded system and ends the log.
func (r *TimedRecorder) Close() error { return errors.Join(r.under.Close(), r.Writer.Close()) }

type timedDevice struct {
	r     *TimedRecorder
	node  int
	under drivers.Device
}

func (d *timedDevice) ReadReg(off uint32) (uint64, error) {
	v, err := d.under.ReadReg(off)
	d.r.put(Op{Kind: ReadReg, Node: d.node, Off: uint64(off), Value: v, Stop: drivers.Stop{Now: d.r.under.Now()}, Err: NewFailure(err)})
	d.r.memory()
	return v, err
}

func (d *timedDevice) WriteReg(off uint32, v uint64) error {
	err := d.under.WriteReg(off, v)
	d.r.put(Op{Kind: WriteReg, Node: d.node, Off: uint64(off), Value: v, Err: NewFailure(err)})
	return err
}

func (d *timedDevice) WritePIO(off uint32, line []byte) error {
	err := d.under.WritePIO(off, line)
	d.r.put(Op{Kind: WritePIO, Node: d.node, Off: uint64(off), Data: line, Err: NewFailure(err)})
	return err
}

func (d *timedDevice) Memory() []byte { return d.under.Memory() }

func (d *timedDevice) Segments() []drivers.Segment { return d.under.Segments() }

func (d *timedDevice) Capabilities() drivers.Capabilities { return d.under.Capabilities() }

// Await returns a Waiter whose calls are recorded.
func (d *timedDevice) Await(c drivers.Cause) (drivers.Waiter, error) {
	return d.r.waiters.Await(d.r, d.node, c)
}
