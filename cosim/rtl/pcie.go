package rtl

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// maxBusLatency is well below the NIC's completion timeout (TICK of rtl/sim/pcie_host.sv).
const maxBusLatency = 30000

// A busFault is a register that is set by a key.
type busFault struct {
	off   uint32
	value uint64
}

// setBus parses the key bus.
func (r *request) setBus(keys map[string]string) error {
	bus := keys["bus"]
	for _, key := range registry.KeyNames(pcieKeys) {
		if _, ok := keys[key]; ok && bus != "pcie" && !(bus == "axi" && key == "bus_seed") {
			return fmt.Errorf("%w: rtl:?%s is of PCIe: expected bus=pcie beside it", drivers.ErrConfig, key)
		}
	}
	if _, ok := keys["ratio"]; ok && bus != "axi" {
		return fmt.Errorf("%w: rtl:?ratio is that of a host's own clock: expected bus=axi beside it", drivers.ErrConfig)
	}
	switch bus {
	case "":
		return nil
	case "axi":
		r.spec.AXI = true
		return r.setAXI(keys)
	case "pcie":
		r.spec.PCIe = true
	default:
		return fmt.Errorf("%w: bus=%s: expected axi or pcie", drivers.ErrConfig, keys["bus"])
	}
	if _, ok := keys["host_wr_latency"]; ok {
		return fmt.Errorf("%w: host_wr_latency with bus=pcie: a posted write has no answer that could be late", drivers.ErrNotSupported)
	}
	if _, err := machine.Number(keys, "host_rd_latency", 1, maxBusLatency, 0); err != nil {
		return fmt.Errorf("%w, as the NIC behind bus=pcie waits for no completion longer than 32768", err)
	}
	return r.setPCIe(keys)
}

func (r *request) setPCIe(keys map[string]string) error {
	if phy, ok := keys["phy"]; ok {
		if phy == "" || !slices.Contains(build.PHYs, phy) {
			return fmt.Errorf("%w: phy=%s: expected one of %v", drivers.ErrConfig, phy, build.PHYs[1:])
		}
		r.spec.PHY = phy
	}
	for _, size := range []string{"mps", "mrrs"} {
		n, err := machine.Number(keys, size, 128, 4096, 0)
		if err != nil {
			return err
		}
		if n != 0 && !slices.Contains(pcieSizes(size), n) {
			return fmt.Errorf("%w: %s=%d: expected one of %v bytes", drivers.ErrConfig, size, n, pcieSizes(size))
		}
		if n != 0 {
			r.cfg.Plusargs = append(r.cfg.Plusargs, fmt.Sprintf("+nl_pcie_%s=%d", size, n))
		}
	}
	if err := r.setBusSeed(keys); err != nil {
		return err
	}
	for key, off := range map[string]uint32{"bus_lost": simregs.RootLost, "bus_late": simregs.RootLate, "bus_poisoned": simregs.RootPoisoned, "bus_errors": simregs.RootErrors} {
		text, ok := keys[key]
		if !ok {
			continue
		}
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p >= 0 && p <= 1) {
			return fmt.Errorf("%w: %s=%s: expected a chance per read of the NIC from 0 to 1, for example 1e-3", drivers.ErrConfig, key, text)
		}
		r.busFaults = append(r.busFaults, busFault{off, uint64(p * math.MaxUint32)})
	}
	return nil
}

// setBusSeed randomises everything that the bus leaves unspecified.
func (r *request) setBusSeed(keys map[string]string) error {
	text, ok := keys["bus_seed"]
	if !ok {
		return nil
	}
	seed, err := strconv.ParseUint(text, 0, 63)
	if err != nil {
		return fmt.Errorf("%w: bus_seed=%s: expected a number of at most 63 bits", drivers.ErrConfig, text)
	}
	r.cfg.Plusargs = append(r.cfg.Plusargs, fmt.Sprintf("+nl_%s_seed=%d", keys["bus"], seed))
	return nil
}

// pcieSizes are the PCIe sizes that the NIC supports.
func pcieSizes(key string) []int {
	if key == "mps" {
		return []int{128, 256, 512}
	}
	return []int{128, 256, 512, 1024, 2048, 4096}
}

// applyBus sets the bus faults before any other access to the NICs.
func (r *request) applyBus(s drivers.Timed) {
	for node := range s.Info().Nodes {
		for _, f := range r.busFaults {
			s.PostReg(node, 0, f.off, f.value)
		}
	}
}

// ReadReg reads a register now; see drivers.Timed. Reads of a removed NIC return all ones, which is
// reported as drivers.ErrPeerDied.
func (s *System) ReadReg(node int, off uint32) (uint64, error) {
	v, err := s.Session.ReadReg(node, off)
	if err != nil || v != math.MaxUint64 || !s.pcie {
		return v, err
	}
	// The parameters of a NIC are never all ones.
	if params, err := s.Session.ReadReg(node, regs.Params); err != nil || params != math.MaxUint64 {
		return v, err
	}
	return 0, fmt.Errorf("%w: node %d: its registers read all ones: it was removed from the bus, or is being reset", drivers.ErrPeerDied, node)
}
