package rtl

import (
	"fmt"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// faults is what the URI wants on every wire.
type faults struct {
	errors, losses uint64 // chances, in 1/2^32
	seed           uint64
}

func parseFaults(keys map[string]string) (f faults, err error) {
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

// chance reads a probability as a register holds it.
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

// apply sets all wires before anything else reaches the registers.
func (f faults) apply(s *System) {
	if f == (faults{}) {
		return
	}
	for node := range s.info.Nodes {
		for link := range linksOf(s.info.Dims) {
			s.PostReg(node, 0, regs.WireSeed(link), f.seed)
			s.PostReg(node, 0, regs.WireErrors(link), f.errors)
			s.PostReg(node, 0, regs.WireLosses(link), f.losses)
		}
	}
}

// linksOf is the number of links that every node of a mesh is built with.
func linksOf(dims [3]int) uint8 {
	switch {
	case dims[2] > 1:
		return 6
	case dims[1] > 1:
		return 4
	}
	return 2
}
