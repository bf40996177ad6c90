package bench

import (
	"context"
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
)

// A ProgramRun is a world whose ranks do what body does, instead of a workload.
type ProgramRun struct {
	Config Config // Workload, Sizes and what only workloads have are ignored
	// HeapBytes is how much DMA memory a rank has for messages beyond host.EagerMax.
	HeapBytes int
	Body      func(r *host.Rank) error
}

// A ProgramResult is what the hardware and the host library counted.
type ProgramResult struct {
	NICs []NIC     `json:"nics"`
	Flow FlowStats `json:"flow_control"`
	// RMAPackets are those that the NICs injected for puts and gets, answers included.
	RMAPackets uint64 `json:"rma_packets"`
}

// Run runs the world on a device whose time is simulated, and closes it.
func (p *ProgramRun) Run(ctx context.Context) (res *ProgramResult, err error) {
	c := p.Config
	const unit = 1 << 20
	c.Sizes, c.buffers = []int{unit}, max(p.HeapBytes/unit, 1)
	w, obs, err := openObserved(ctx, &c, drivers.CanSimulate)
	if err != nil {
		return nil, err
	}
	defer func() { err = causeOf(ctx, errors.Join(err, w.close(), obs.close())) }()
	if err := w.run(ctx, p.Body); err != nil {
		return nil, err
	}
	full := newResult(w)
	if err := w.finish(full); err != nil {
		return nil, err
	}
	res = &ProgramResult{NICs: full.NICs, Flow: w.flowStats()}
	for node := range c.Nodes {
		n, err := w.Sys.Device(node).ReadReg(regs.RMATXPackets)
		if err != nil {
			return nil, err
		}
		res.RMAPackets += n
	}
	return res, nil
}
