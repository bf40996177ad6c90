package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// NVM makes the heaps of a node's ranks, where long messages arrive, as slow to
// write as non-volatile memory: Num/Den of line rate, behind a write buffer of
// Depth bytes. 1/1 leaves the node as it is.
type NVM struct {
	Node  int `json:"node"`
	Num   int `json:"num"`
	Den   int `json:"den"`
	Depth int `json:"depth_bytes"`
}

// NVMDepth is the write buffer where nothing else is said: a page.
const NVMDepth = 4096

// LineRate is what a NIC writes at most, in bytes per cycle.
const LineRate = 8

// ParseNVM reads NODE:NUM/DEN.
func ParseNVM(s string) (NVM, error) {
	bad := fmt.Errorf("%w: NVM %q: expected NODE:NUM/DEN, as in 5:1/8", drivers.ErrConfig, s)
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

// MaxSlotTime is of the slowest memory that Config.SlotTime stands for.
const MaxSlotTime = 100 * drivers.Microsecond

// fullRate is line rate, as registers have it.
const fullRate = 1 << 16

// Ranges of the write limiter.
const (
	heapRange = iota
	mailboxRange
)

// limit sets the write limiters that the configuration asks for.
func (w *World) limit() error {
	for _, n := range w.Config.NVM {
		if !n.limits() {
			continue
		}
		off, bytes := w.Layout.Heaps()
		if bytes == 0 {
			return fmt.Errorf("%w: NVM %v limits what RMA writes, and no message is long enough for RMA: give sizes above 2048", drivers.ErrConfig, n)
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

// beside tells memory that a rank computes, or that it does not any more; nil: it makes no
// difference.
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

// limitSlots makes the mailboxes of all nodes slow. Memory has room for two slots, as with one the
// fraction of a cycle that is left of each would be lost.
func (w *World) limitSlots() error {
	c := &w.Config
	if c.SlotTime == 0 {
		return nil
	}
	line := drivers.Time(w.Sys.Info().ClockPS * regs.SlotBytes / LineRate) // of a slot, at line rate
	rate := int((line*fullRate + c.SlotTime/2) / c.SlotTime)
	if rate >= fullRate {
		return fmt.Errorf("%w: a slot time of %v: %s writes a slot in %v at least", drivers.ErrConfig, c.SlotTime, c.Device, line)
	}
	off, bytes := w.Layout.Mailboxes()
	for node := range c.Nodes {
		if err := w.limitRange(node, mailboxRange, off, bytes, rate, 2*regs.SlotBytes); err != nil {
			return fmt.Errorf("slot time of %v: %w", c.SlotTime, err)
		}
	}
	return nil
}

// limitRange sets one range of a node's limiter: its rate in parts of fullRate, its write buffer in
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

// readNVM reads what the limiter of a limited node has counted.
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
