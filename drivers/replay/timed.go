package replay

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
)

// Timed plays the log of a Timed system.
type Timed struct{ *System }

var _ drivers.Timed = (*Timed)(nil)

// Now returns the recorded time.
func (t *Timed) Now() drivers.Cycle { return t.now }

// PostReg must be the recorded call.
func (t *Timed) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	t.void(&translog.Op{Kind: translog.PostReg, Node: node, At: at, Off: uint64(off), Value: v})
}

// PostPIO must be the recorded call.
func (t *Timed) PostPIO(node int, at drivers.Cycle, off uint32, line []byte) {
	t.void(&translog.Op{Kind: translog.PostPIO, Node: node, At: at, Off: uint64(off), Data: line})
}

// PIOTaken returns the recorded count.
func (t *Timed) PIOTaken(node, vpid int) uint64 {
	o := translog.Op{Kind: translog.PIOTaken, Node: node, VPID: vpid}
	t.void(&o)
	return o.Value
}

// Watch returns the recorded WatchID.
func (t *Timed) Watch(node int, off, n uint64) (drivers.WatchID, error) {
	o := translog.Op{Kind: translog.Watch, Node: node, Off: off, Len: n}
	if err := t.call(&o); err != nil {
		return 0, err
	}
	return o.ID, o.Err.AsError()
}

// Arm must be the recorded call.
func (t *Timed) Arm(id drivers.WatchID) { t.void(&translog.Op{Kind: translog.Arm, ID: id}) }

// ArmPIO must be the recorded call.
func (t *Timed) ArmPIO(node, vpid int, count uint64) {
	t.void(&translog.Op{Kind: translog.ArmPIO, Node: node, VPID: vpid, Value: count})
}

// ArmIRQ must be the recorded call.
func (t *Timed) ArmIRQ(node int) { t.void(&translog.Op{Kind: translog.ArmIRQ, Node: node}) }

// Run stops where the recorded run stopped.
func (t *Timed) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	o := translog.Op{Kind: translog.Run, At: deadline, Stop: drivers.Stop{Now: t.now, Fired: stop.Fired[:0]}}
	err := t.call(&o)
	*stop = o.Stop
	t.waiters.NoteStop(stop)
	if err != nil {
		return err
	}
	return o.Err.AsError()
}

// void is a call without an error; the system keeps it for the next call that
// has one.
func (t *Timed) void(o *translog.Op) { _ = t.call(o) }
