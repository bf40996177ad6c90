package translog

import (
	"bytes"
	"errors"
	"io"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
)

// recorder writes calls, and the device's writes to the watched parts of memory before each call.
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
