package freerun

import (
	"errors"
	"fmt"
	"os"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A lender is a machine whose memory can be laid into files; see drivers.Lender.
type lender interface {
	Lend(node int, off, n uint64, file *os.File, at uint64) error
	Lends() bool
}

func (a *System) lends() drivers.Capabilities {
	if l, ok := a.m.(lender); ok && l.Lends() {
		return drivers.CanLend
	}
	return 0
}

// Lend is drivers.Lender's. No time passes meanwhile.
func (a *System) Lend(node int, off, n uint64, file *os.File, at uint64) error {
	if a.lends() == 0 {
		return fmt.Errorf("%w: %s cannot lend memory", drivers.ErrNotSupported, a.info.Backend)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return a.err
	}
	return a.m.(lender).Lend(node, off, n, file, at)
}

// mostPosted bounds what somebody who counts no entries can have under way: more than there are
// entries, so that it is never the window of one that counts.
const mostPosted = 4 * (regs.VELOLines + regs.RMADepth)

// Post is drivers.Lender's.
func (a *System) Post(node int, off uint32, line []byte) error {
	return a.post(a.m.Device(node), node, off, line, mostPosted)
}

// post posts a line once fewer than most of its process are in flight.
func (a *System) post(under drivers.Device, node int, off uint32, line []byte, most uint64) error {
	vpid := int(regs.Pio(off).SrcVPID())
	a.mu.Lock()
	defer a.mu.Unlock()
	e := &a.entries[node][vpid]
	if err := a.await(func() bool { return e.HasRoom(a.m, node, vpid, 1, most) }); err != nil {
		return err
	}
	e.Posted++
	a.wake()
	return under.WritePIO(off, line)
}

// Drain is drivers.Lender's.
func (a *System) Drain(node, vpid int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.await(func() bool { return a.entries[node][vpid].IsDrained(a.m, node, vpid) })
}

// await waits, under the lock, until the simulation makes a condition true.
func (a *System) await(holds func() bool) error {
	for a.err == nil && !holds() {
		a.wake()
		a.taken.Wait()
	}
	return a.err
}

// OnFault is drivers.Lender's.
func (a *System) OnFault(f func(error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.onFault = f
}

// reportFaults passes faults to onFault and returns the other errors.
func (a *System) reportFaults(err error) error {
	if err == nil || a.onFault == nil {
		return err
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var rest []error
		for _, e := range list.Unwrap() {
			rest = append(rest, a.reportFaults(e))
		}
		return errors.Join(rest...)
	}
	var bus *drivers.BusError
	var dma *drivers.DMAError
	if errors.As(err, &bus) && bus.Write || errors.As(err, &dma) {
		a.onFault(err)
		return nil
	}
	return err
}
