package alone

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

// post posts a line when fewer than most of its process are on their way.
func (a *System) post(under drivers.Device, node int, off uint32, line []byte, most uint64) error {
	vpid := int(regs.Pio(off).SrcVPID())
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.await(func() bool { return a.underWay(node, vpid) < most }); err != nil {
		return err
	}
	a.posted[node][vpid]++
	a.moves()
	return under.WritePIO(off, line)
}

func (a *System) underWay(node, vpid int) uint64 {
	return a.posted[node][vpid] - a.m.PIOTaken(node, vpid)
}

// Drain is drivers.Lender's.
func (a *System) Drain(node, vpid int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.await(func() bool { return a.underWay(node, vpid) == 0 })
}

// await waits, under the lock, until something holds that time brings.
func (a *System) await(holds func() bool) error {
	for a.err == nil && !holds() {
		a.moves()
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

// sort tells of faults whoever wants to know, and gives back what else an error holds.
func (a *System) sort(err error) error {
	if err == nil || a.onFault == nil {
		return err
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var rest []error
		for _, e := range list.Unwrap() {
			rest = append(rest, a.sort(e))
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
