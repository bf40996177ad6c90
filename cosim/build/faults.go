package build

import (
	"fmt"
	"strconv"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Faults are what a device's URI wants on every wire.
type Faults struct {
	errors, losses uint64 // chances, in 1/2^32
	seed           uint64
}

// Keys that several devices have.
var (
	// MeshKeys say what a mesh is like, RTL or model.
	MeshKeys = []registry.Key{
		{Name: "dims", Value: "4x4x4", Doc: "the mesh; default: as nearly a cube as --nodes lets it be"},
		{Name: "torus", Value: "1", Doc: "rings in every dimension of more than two nodes"},
		{Name: "vc_depth", Value: "16", Doc: "flits per virtual channel of a router's input, 2 to 128"},
		{Name: "host_wr_latency", Value: "4", Doc: "cycles from a DMA burst to its acknowledgement"},
	}
	// LatencyKeys are those of a mesh whose nodes are all of one kind.
	LatencyKeys = []registry.Key{
		{Name: "wire_latency", Value: "0", Doc: "cycles that a flit between nodes takes beyond its two, up to 64; credits too"},
		{Name: "host_rd_latency", Value: "8", Doc: "cycles from the address of a DMA read to its first beat"},
	}
)

// FaultKeys are the keys that say so.
var FaultKeys = []registry.Key{
	{Name: "link_errors", Value: "1e-4", Doc: "chance of a word on a wire between nodes to be corrupted"},
	{Name: "link_losses", Value: "1e-5", Doc: "chance of it to be lost"},
	{Name: "link_seed", Value: "7", Doc: "where the random numbers of both start"},
}

// ParseFaults reads them.
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

// LinksOf is the number of links that every node of a mesh is built with.
func LinksOf(dims [3]int) uint8 {
	switch {
	case dims[2] > 1:
		return 6
	case dims[1] > 1:
		return 4
	}
	return 2
}
