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
		dev := w.Sys.Device(n.Node)
		heaps, err := drivers.Address(dev, off, bytes)
		if err != nil {
			return fmt.Errorf("NVM %v: %w", n, err)
		}
		var bus *drivers.BusError
		if _, err := dev.ReadReg(regs.NVMRate(0)); errors.As(err, &bus) {
			return fmt.Errorf("%w: NVM %v: %s has no write limiter (%w)", drivers.ErrNotSupported, n, w.Config.Device, err)
		} else if err != nil {
			return err
		}
		for _, set := range []struct {
			off uint32
			v   uint64
		}{
			{regs.NVMBase(0), heaps}, {regs.NVMEnd(0), heaps + bytes},
			{regs.NVMRate(0), uint64(n.Num << 16 / n.Den)}, {regs.NVMDepth(0), uint64(n.Depth)},
		} {
			if err := dev.WriteReg(set.off, set.v); err != nil {
				return err
			}
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
		if nic.NVMBytes, err = dev.ReadReg(regs.NVMBytes(0)); err != nil {
			return err
		}
		nic.NVMStall, err = dev.ReadReg(regs.NVMStall(0))
	}
	return err
}
