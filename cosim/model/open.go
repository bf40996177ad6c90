package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/freerun"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
)

const defaultMemory = 1 << 20

// longestRun is the length of a maximum VELO packet: header, payload and tail.
const longestRun = 2 + regs.VELOPayload/regs.FlitBytes

func init() {
	registry.Register(registry.Backend{Scheme: "model", Doc: "the model of NIC and network in Go, cycle by cycle",
		Keys: slices.Concat(machine.MeshKeys, machine.LatencyKeys, ownKeys, machine.FaultKeys), Open: open, Validate: validate})
}

// validate parses the keys of a URI for as many nodes as it names, or one.
func validate(path string, keys map[string]string) error {
	if path != "" {
		return fmt.Errorf("%w: model:%s: expected no path; settings are keys, as in model:?dims=4x4x4", drivers.ErrConfig, path)
	}
	nodes := 0
	if keys["dims"] == "" && keys["topology"] == "" {
		nodes = 1
	}
	if _, err := freerun.Clock("model", keys, drivers.Options{}); err != nil {
		return err
	}
	_, err := parse(keys, nodes)
	return err
}

func open(_ context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	if path != "" {
		return nil, fmt.Errorf("%w: model:%s: expected no path; settings are keys, as in model:?dims=4x4x4", drivers.ErrConfig, path)
	}
	if opt.Nodes < 0 || opt.Nodes == 0 && keys["dims"] == "" && keys["topology"] == "" {
		return nil, fmt.Errorf("%w: %d nodes: model: holds 1..%d nodes", drivers.ErrConfig, opt.Nodes, regs.HeaderNodes)
	}
	wall, err := freerun.Clock("model", keys, opt)
	if err != nil {
		return nil, err
	}
	p, err := parse(keys, opt.Nodes)
	if err != nil {
		return nil, err
	}
	p.Lent = wall
	m, err := New(p, opt)
	if err != nil {
		return nil, err
	}
	m.SetURI(machine.URI("model", p.Dims, keys))
	if wall {
		return freerun.New(m), nil
	}
	return m, nil
}

// mostParts is the largest number of parts that was measured.
const mostParts = 2

// New creates a machine with the given parameters. It uses MemoryBytes, Trace and Threads of opt.
func New(p Params, opt drivers.Options) (*nic.Machine, error) {
	m, _, err := NewInside(p, opt, nil)
	return m, err
}

// NewInside creates a machine in which some nodes and their routers are simulated elsewhere (nil:
// none), and returns its network as well. Such a machine has one part.
func NewInside(p Params, opt drivers.Options, outside func(node int) bool) (*nic.Machine, *fabric.Fabric, error) {
	mem := opt.MemoryBytes
	if mem == 0 {
		mem = defaultMemory
	}
	switch {
	case (opt.Waves != nil || opt.Checkpoints != nil) && outside == nil:
		return nil, nil, fmt.Errorf("%w: model has no waveforms, rtl: does", drivers.ErrNotSupported)
	case mem < regs.SlotBytes:
		return nil, nil, fmt.Errorf("%w: DMA memory of %d bytes per node: expected at least %d", drivers.ErrConfig, mem, regs.SlotBytes)
	}
	if err := segment.Check(opt.Segments, p.Dims[0]*p.Dims[1]*p.Dims[2], mem); err != nil {
		return nil, nil, err
	}
	cfg := p.Fabric
	cfg.Topology, cfg.Outside = p.topology(), outside
	if opt.Trace == nil && cfg.Topology.VCs() == classes { // traces report single flits; tori and Dragonflies change virtual channels
		cfg.Run = longestRun
	}
	if cfg.Parts = 1; opt.Trace == nil && outside == nil { // traces are ordered by time
		cfg.Parts = max(1, min(opt.Threads, mostParts, cfg.Topology.Nodes()))
	}
	info := drivers.Info{
		Backend: "model", Nodes: p.Dims[0] * p.Dims[1] * p.Dims[2], VPIDs: regs.VPIDs, Dims: p.Dims, Torus: p.Torus, ClockPS: regs.ClockPS,
		DescHash: regs.DescHashValue, Hash: "model", Tool: "Go",
	}
	var cuts []int
	if s := p.Shared; s != nil {
		cfg.Parts = s.parts(cfg.Parts)
		cfg.PartOf, cuts = s.PartOf(cfg.Parts), s.cuts(cfg.Parts)
		info.Topology = s.name
	}
	f, err := fabric.New(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %v", drivers.ErrConfig, err)
	}
	if err := f.CanFail(); err != nil && p.Faults != (machine.Faults{}) {
		return nil, nil, fmt.Errorf("%w: %v", drivers.ErrNotSupported, err)
	}
	m := nic.New(nic.Config{
		Info: info, Shared: p.Shared != nil, Cuts: cuts,
		VCDepth: p.Fabric.VCDepth, Ports: cfg.Topology.Ports(0), Torus: p.Torus, Memory: mem, Segments: opt.Segments, Lent: p.Lent, Trace: opt.Trace, Timing: p.NIC,
		Parts: cfg.Parts, Lookahead: drivers.Cycle(f.Lookahead()),
	})
	networks := make([]nic.Network, cfg.Parts)
	for i := range networks {
		networks[i] = newNetwork(m.Part(i), f.Part(i), cfg)
	}
	m.Connect(networks...)
	p.Faults.Apply(m)
	return m, f, nil
}
