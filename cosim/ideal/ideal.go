package ideal

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/cosim/freerun"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
)

const (
	defaultNodes  = 2
	defaultMemory = 4 << 20
)

func init() {
	registry.Register(registry.Backend{
		Scheme: "ideal", Doc: "the NIC in Go without a network, for tests of the layers above", Keys: keys, Open: open, Validate: validate,
	})
}

// validate opens a small machine, which costs nothing.
func validate(path string, keys map[string]string) error {
	sys, err := open(context.Background(), path, keys, drivers.Options{})
	if err != nil {
		return err
	}
	return sys.Close()
}

func open(_ context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	if path != "" {
		return nil, fmt.Errorf("%w: ideal: found path %q; expected none", drivers.ErrConfig, path)
	}
	latency, err := machine.Number(keys, "latency", 1, 1<<20, 20)
	if err != nil {
		return nil, err
	}
	depth, err := machine.Number(keys, "depth", 1, 1<<20, 8)
	if err != nil {
		return nil, err
	}
	dma, err := parseDMA(keys)
	if err != nil {
		return nil, err
	}
	wall, err := freerun.Clock("ideal", keys, opt)
	if err != nil {
		return nil, err
	}
	m, err := build(opt, drivers.Cycle(latency), depth, dma, wall)
	if err != nil {
		return nil, err // not a nil *Machine in an interface
	}
	if !wall {
		return m, nil
	}
	m.SetURI(m.Info().URI + "&clock=wall")
	return freerun.New(m), nil
}

// New creates a machine. It uses Nodes (default 2), MemoryBytes (default 4 MiB per node) and Trace
// of opt.
func New(opt drivers.Options, latency drivers.Cycle, depth int) (*nic.Machine, error) {
	return build(opt, latency, depth, dma{}, false)
}

func build(opt drivers.Options, latency drivers.Cycle, depth int, dma dma, lent bool) (*nic.Machine, error) {
	n, mem := opt.Nodes, opt.MemoryBytes
	if n == 0 {
		n = defaultNodes
	}
	if mem == 0 {
		mem = defaultMemory
	}
	switch {
	case opt.Waves != nil || opt.Checkpoints != nil:
		return nil, fmt.Errorf("%w: ideal has no waveforms, rtl: does", drivers.ErrNotSupported)
	case n < 1 || n > regs.NodeMax:
		return nil, fmt.Errorf("%w: ideal: %d nodes; expected 1..%d", drivers.ErrConfig, n, regs.NodeMax)
	case mem < regs.SlotBytes:
		return nil, fmt.Errorf("%w: ideal: %d bytes of memory per node; expected at least %d", drivers.ErrConfig, mem, regs.SlotBytes)
	}
	if err := segment.Check(opt.Segments, n, mem); err != nil {
		return nil, err
	}
	segments := opt.Segments
	if segments == nil {
		mem, segments = dma.lay(mem, n)
	}
	m := nic.New(nic.Config{
		Info: drivers.Info{
			URI: fmt.Sprintf("ideal:?latency=%d&depth=%d%s", latency, depth, dma), Backend: "ideal",
			Nodes: n, VPIDs: regs.VPIDs, Dims: [3]int{n, 1, 1}, ClockPS: regs.ClockPS,
			DescHash: regs.DescHashValue, Hash: "ideal", Tool: "Go",
		},
		VCDepth: depth, Ports: 1, Memory: mem, Segments: segments, Lent: lent, Trace: opt.Trace, Timing: nic.RTL().NIC,
	})
	m.Connect(&pipe{m: m.Part(0), latency: latency, depth: depth, nodes: make([]end, n)})
	return m, nil
}
