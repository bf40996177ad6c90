package machine

import (
	"fmt"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Faults are the errors that the URI of a machine requests on every wire.
type Faults struct {
	errors, losses uint64 // chances, in 1/2^32
	seed           uint64
}

// ParseFaults reads the FaultKeys.
func ParseFaults(keys map[string]string) (f Faults, err error) {
	if f.errors, err = chance(keys, "link_errors"); err != nil {
		return f, err
	}
	if f.losses, err = chance(keys, "link_losses"); err != nil {
		return f, err
	}
	if text, ok := keys["link_seed"]; ok {
		if f.seed, err = strconv.ParseUint(text, 0, 64); err != nil {
			return f, fmt.Errorf("%w: link_seed=%s: expected a number of at most 64 bits", drivers.ErrConfig, text)
		}
	}
	return f, nil
}

// chance reads a probability in the format of the registers.
func chance(keys map[string]string, key string) (uint64, error) {
	text, ok := keys[key]
	if !ok {
		return 0, nil
	}
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p >= 0 && p <= 0.5) {
		return 0, fmt.Errorf("%w: %s=%s: expected a chance per word from 0 to 0.5, for example 1e-4", drivers.ErrConfig, key, text)
	}
	return uint64(p * (1 << 32)), nil
}

// Apply sets all wires of a system before anything else reaches the registers.
func (f Faults) Apply(s drivers.Timed) {
	if f == (Faults{}) {
		return
	}
	info := s.Info()
	for node := range info.Nodes {
		for link := range LinksOf(info.Dims) {
			s.PostReg(node, 0, regs.WireSeed(link), f.seed)
			s.PostReg(node, 0, regs.WireErrors(link), f.errors)
			s.PostReg(node, 0, regs.WireLosses(link), f.losses)
		}
	}
}
