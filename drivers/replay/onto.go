package replay

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
)

// Onto makes the calls of a Timed system's log on sys and compares its answers
// and the memory that it writes, so that what was recorded once can be looked at
// again: with waveforms, on other hardware, after a repair. The first answer
// that differs is a *DivergenceError. The caller closes sys.
//
// It needs hardware of the same timing. A log of a device, whose calls carry no
// time, is drivers.ErrNotSupported.
func Onto(data []byte, sys drivers.Timed) error {
	r, err := translog.NewReader(data)
	if err != nil {
		return err
	}
	if !r.Meta.Timed {
		return fmt.Errorf("%w: the log of a device carries no times to repeat", drivers.ErrNotSupported)
	}
	if err := check(&r.Meta, drivers.Options{Nodes: sys.Info().Nodes}); err != nil {
		return err
	}
	var o translog.Op
	var stop drivers.Stop
	for err = r.Next(&o); err == nil; err = r.Next(&o) {
		found := o
		found.Stop = drivers.Stop{}
		perform(&found, sys, &stop)
		if !sameAnswer(&o, &found) {
			return &DivergenceError{r.Count() - 1, o.Now, o.Call() + " -> " + o.Answer(), found.Call() + " -> " + found.Answer()}
		}
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// perform makes o's call and puts the answer in place of the recorded one.
func perform(o *translog.Op, sys drivers.Timed, stop *drivers.Stop) {
	var err error
	switch o.Kind {
	case translog.PostReg:
		sys.PostReg(o.Node, o.At, uint32(o.Off), o.Value)
	case translog.PostPIO:
		sys.PostPIO(o.Node, o.At, uint32(o.Off), o.Data)
	case translog.ReadReg:
		o.Value, err = sys.Device(o.Node).ReadReg(uint32(o.Off))
		o.Stop.Now = sys.Now()
	case translog.WriteReg:
		err = sys.Device(o.Node).WriteReg(uint32(o.Off), o.Value)
	case translog.WritePIO:
		err = sys.Device(o.Node).WritePIO(uint32(o.Off), o.Data)
	case translog.PIOTaken:
		o.Value = sys.PIOTaken(o.Node, o.VPID)
	case translog.Watch:
		o.ID, err = sys.Watch(o.Node, o.Off, o.Len)
	case translog.Arm:
		sys.Arm(o.ID)
	case translog.ArmPIO:
		sys.ArmPIO(o.Node, o.VPID, o.Value)
	case translog.ArmIRQ:
		sys.ArmIRQ(o.Node)
	case translog.Run:
		err = sys.Run(o.At, stop)
		o.Stop = *stop
	case translog.Memory:
		o.Data = memory(sys.Device(o.Node).Memory(), o.Off, len(o.Data))
	}
	o.Err = translog.NewFailure(err)
}

// memory is the part of mem that a log speaks of, as far as mem reaches.
func memory(mem []byte, off uint64, n int) []byte {
	from := min(off, uint64(len(mem)))
	return mem[from:min(from+uint64(n), uint64(len(mem)))]
}

func sameAnswer(a, b *translog.Op) bool {
	return a.Value == b.Value && a.ID == b.ID && bytes.Equal(a.Data, b.Data) && sameFailure(a.Err, b.Err) &&
		a.Stop.Now == b.Stop.Now && a.Stop.Quiet == b.Stop.Quiet && a.Stop.Idle == b.Stop.Idle && slices.Equal(a.Stop.Fired, b.Stop.Fired)
}

func sameFailure(a, b *translog.Failure) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Text == b.Text)
}
