package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// NVM limits the write rate of the heaps of a node's ranks, where long messages arrive, as
// non-volatile memory would: Num/Den of line rate, behind a write buffer of Depth bytes. 1/1 is no
// limit.
type NVM struct {
	Node  int `json:"node"`
	Num   int `json:"num"`
	Den   int `json:"den"`
	Depth int `json:"depth_bytes"`
}

// NVMDepth is the default write buffer: a page.
const NVMDepth = 4096

// LineRate is the maximum write rate of a NIC in bytes per cycle.
const LineRate = 8

// ParseNVM parses NODE:NUM/DEN.
func ParseNVM(s string) (NVM, error) {
	bad := fmt.Errorf("%w: NVM %q: expected NODE:NUM/DEN, such as 5:1/8", drivers.ErrConfig, s)
	node, rate, ok := strings.Cut(s, ":")
	num, den, ok2 := strings.Cut(rate, "/")
	if !ok || !ok2 {
		return NVM{}, bad
	}
	n := NVM{Depth: NVMDepth}
	for _, f := range []struct {
		text string
		to   *int
	}{{node, &n.Node}, {num, &n.Num}, {den, &n.Den}} {
		v, err := strconv.Atoi(f.text)
		if err != nil {
			return NVM{}, bad
		}
		*f.to = v
	}
	return n, nil
}

func (n NVM) String() string { return fmt.Sprintf("%d:%d/%d", n.Node, n.Num, n.Den) }

func (n NVM) limits() bool { return n.Num < n.Den }

func (n NVM) validate(nodes int) error {
	switch {
	case n.Node < 0 || n.Node >= nodes:
		return fmt.Errorf("%w: NVM at node %d: expected a node below %d", drivers.ErrConfig, n.Node, nodes)
	case n.Num < 1 || n.Den < n.Num || n.Den > 1<<16:
		return fmt.Errorf("%w: NVM %v: expected a share of line rate from 1/65536 to 1/1", drivers.ErrConfig, n)
	case n.Depth < 64 || n.Depth >= 1<<24:
		return fmt.Errorf("%w: NVM write buffer of %d bytes: expected 64 (one burst) to %d", drivers.ErrConfig, n.Depth, 1<<24-1)
	}
	return nil
}

// MaxSlotTime is the slowest memory that Config.SlotTime supports.
const MaxSlotTime = 100 * drivers.Microsecond

// fullRate is the line rate in units of the registers.
const fullRate = 1 << 16

// Ranges of the write limiter.
const (
	heapRange = iota
	mailboxRange
)

// limit programs the write limiters of the configuration.
func (w *World) limit() error {
	for _, n := range w.Config.NVM {
		if !n.limits() {
			continue
		}
		off, bytes := w.Layout.Heaps()
		if bytes == 0 {
			return fmt.Errorf("%w: NVM %v limits RMA writes, but no message is long enough for RMA: use sizes above 2048", drivers.ErrConfig, n)
		}
		if err := w.limitRange(n.Node, heapRange, off, bytes, n.Num*fullRate/n.Den, n.Depth); err != nil {
			return fmt.Errorf("NVM %v: %w", n, err)
		}
	}
	if w.Config.Beside > 0 {
		off, bytes := w.Layout.Heaps()
		for node := range w.Config.Nodes {
			if err := w.limitRange(node, heapRange, off, bytes, fullRate, NVMDepth); err != nil {
				return fmt.Errorf("memory beside a computation: %w", err)
			}
		}
	}
	return w.limitSlots()
}

// beside returns the function that switches the memory rate when a rank begins or ends to compute;
// nil: the rate is constant.
func (w *World) beside() func(rank int, computes bool) error {
	if w.Config.Beside == 0 {
		return nil
	}
	return func(rank int, computes bool) error {
		rate := fullRate
		if computes {
			rate = fullRate * w.Config.Beside / 100
		}
		return w.procs[rank].Device().WriteReg(regs.NVMRate(heapRange), uint64(rate))
	}
}

// limitSlots limits the write rate of mailboxes of all nodes. The write buffer holds two slots,
// because with one the remaining fraction of a cycle of each slot would be lost.
func (w *World) limitSlots() error {
	c := &w.Config
	if c.SlotTime == 0 {
		return nil
	}
	line := drivers.Time(w.Sys.Info().ClockPS * regs.SlotBytes / LineRate) // time of a slot at line rate
	rate := int((line*fullRate + c.SlotTime/2) / c.SlotTime)
	if rate >= fullRate {
		return fmt.Errorf("%w: slot time of %v: expected at least %[4]v, the time of a slot at line rate on %[3]s", drivers.ErrConfig, c.SlotTime, c.Device, line)
	}
	off, bytes := w.Layout.Mailboxes()
	for node := range c.Nodes {
		if err := w.limitRange(node, mailboxRange, off, bytes, rate, 2*regs.SlotBytes); err != nil {
			return fmt.Errorf("slot time of %v: %w", c.SlotTime, err)
		}
	}
	return nil
}

// limitRange programs one range of a node's limiter: rate in units of fullRate, write buffer in
// bytes.
func (w *World) limitRange(node, number int, off, bytes uint64, rate, depth int) error {
	dev := w.Sys.Device(node)
	at, err := drivers.Address(dev, off, bytes)
	if err != nil {
		return err
	}
	var bus *drivers.BusError
	if _, err := dev.ReadReg(regs.NVMRate(uint8(number))); errors.As(err, &bus) {
		return fmt.Errorf("%w: %s has no write limiter (%w)", drivers.ErrNotSupported, w.Config.Device, err)
	} else if err != nil {
		return err
	}
	for _, set := range []struct {
		off uint32
		v   uint64
	}{
		{regs.NVMBase(uint8(number)), at}, {regs.NVMEnd(uint8(number)), at + bytes},
		{regs.NVMRate(uint8(number)), uint64(rate)}, {regs.NVMDepth(uint8(number)), uint64(depth)},
	} {
		if err := dev.WriteReg(set.off, set.v); err != nil {
			return err
		}
	}
	return nil
}

// readNVM reads the counters of a node's limiter.
func (w *World) readNVM(nic *NIC) (err error) {
	for _, n := range w.Config.NVM {
		if n.Node != nic.Node || !n.limits() {
			continue
		}
		dev := w.Sys.Device(n.Node)
		if nic.NVMBytes, err = dev.ReadReg(regs.NVMBytes(heapRange)); err != nil {
			return err
		}
		nic.NVMStall, err = dev.ReadReg(regs.NVMStall(heapRange))
	}
	return err
}
