package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/sirupsen/logrus"
)

// A Config is a run: what is measured, and what observes it.
type Config struct {
	Spec
	Hooks `json:"-"`

	held    *heldLinks // blocking of each link
	bounded bool       // long messages have fewer iterations
	buffers int        // number of longest messages that a rank holds
}

// A Spec describes a run. Its JSON form is part of every result: equal Specs give equal results.
type Spec struct {
	Workload string `json:"workload"`
	Device   string `json:"device"`
	Nodes    int    `json:"nodes"`
	Procs    int    `json:"procs"` // per node
	// Hosts lists the nodes with processes, in the order of the ranks; empty: all.
	Hosts      []int `json:"hosts,omitempty"`
	Sizes      []int `json:"sizes_bytes"`
	Iterations int   `json:"iterations"`
	Warmup     int   `json:"warmup"`
	// Algorithm of a collective; empty: selected by host's table, for alltoall the linear one.
	Algorithm string      `json:"algorithm,omitempty"`
	Velo      velo.Config `json:"flow_control"`
	Cost      host.Cost   `json:"cost_model"`
	// Local lets messages between ranks of a node bypass the NIC.
	Local bool `json:"local"`
	// Rendezvous is the protocol of messages longer than host.EagerMax. Chunk and Outstanding apply
	// to the chunked protocol.
	Rendezvous  host.Rendezvous `json:"rendezvous"`
	Chunk       int             `json:"chunk_bytes"`
	Outstanding int             `json:"outstanding"`
	// AlwaysSpeculate keeps the rendezvous spec sending RTRs even if they are not used.
	AlwaysSpeculate bool `json:"always_speculate,omitempty"`
	// Fault disables what an experiment is about: its judges must notice. Empty: none.
	Fault Fault `json:"fault,omitempty"`
	// Reuse moves eager messages by RMA, zero-copy from buffers that are used often.
	Reuse host.Reuse `json:"reuse,omitzero"`
	// Eager permits eager messages longer than host.EagerMax; nil: none.
	Eager *Thresholds `json:"eager,omitempty"`
	// NVM lists nodes with slow memory; Hot is the number of ranks that send to each of them in
	// hotspot.
	NVM []NVM `json:"nvm,omitempty"`
	Hot int   `json:"hot,omitempty"`
	// SlotTime is the time that memory takes to write the 64 bytes of a mailbox slot, one slot after
	// the other; 0: as fast as the NIC writes.
	SlotTime drivers.Time `json:"slot_ps,omitempty"`
	// Compute is the time of one computation of a rank: in an application pattern whenever the rank
	// produces or consumes data, in stencil and halo in each step (0: twice the link time of the
	// rank's messages). Jitter is the largest random extension in a pattern, in percent.
	Compute drivers.Time `json:"compute_ps,omitempty"`
	Jitter  int          `json:"compute_jitter_percent,omitempty"`
	// GetsLonger is the extra duration of a get relative to a put of as many bytes in a pattern, in
	// percent. Beside is the memory rate for NIC writes while a rank of a pattern computes, in
	// percent of the line rate; 0: the full rate. Both model other machines in experiments.
	GetsLonger int `json:"gets_longer_percent,omitempty"`
	Beside     int `json:"memory_beside_percent,omitempty"`
	// Variation is the share by which lengths of messages change from step to step in halo, in
	// eighths; 0: 1.
	Variation int `json:"variation_eighths,omitempty"`
	// Helper adds a progress thread to every rank of overlap and progress.
	Helper bool `json:"progress_thread,omitempty"`
	// Offset is the delay of the later side in overlap and progress; 0: DefaultOffset.
	Offset drivers.Time `json:"offset_ps,omitempty"`
	Seed   int64        `json:"seed"`
	// Limit is the simulated time after which the run is aborted; 0: none.
	Limit drivers.Time `json:"limit_ps"`
}

// A Fault is a mistake that tests of judges plant.
type Fault string

// The faults.
const (
	NoRTRs  Fault = "no-rtrs"     // receivers of the rendezvous spec send no RTR: senders begin
	PutsGet Fault = "rget-by-put" // the rendezvous rget moves its bytes by puts
)

// protocol returns the rendezvous, under the fault of the configuration.
func (c *Config) protocol() host.Rendezvous {
	switch {
	case c.Fault == NoRTRs && c.Rendezvous == host.Spec:
		return host.RGET
	case c.Fault == PutsGet && c.Rendezvous == host.RGET:
		return host.RPUT
	}
	return c.Rendezvous
}

// Hooks observe a run, or are told of its progress. None of them changes what it measures.
type Hooks struct {
	// Threads is the number of threads that simulate the world if the device supports it; 0: one.
	// Observed runs (Pcap, Blocks) and recorded ones use one thread.
	Threads int

	Pcap   io.Writer // pcapng of every link
	Record io.Writer // transaction log of the run
	Blocks bool      // latency by block
	Waves  *drivers.WaveWindow
	// Checkpoints enable waves of a failed run: its end is repeated with waves, and Repeated receives
	// their description.
	Checkpoints *drivers.Checkpoints
	Repeated    func(drivers.Repeated, error)
	LogFile     string         // for the simulator's own output
	Log         *logrus.Logger // nil: the standard logger

	// Open replaces registry.Open. System receives the opened device before it is used.
	Open   func(context.Context, string, drivers.Options) (drivers.System, error)
	System func(drivers.System)
	// Opened and Finished receive the device before the first rank starts and after the last one has
	// ended, for settings and readings outside the ranks.
	Opened   func(drivers.Timed) error
	Finished func(drivers.Timed) error
	Ended    func(drivers.Time) // receives the end of simulated time, also after a failure

	Building func(what string)
	Step     func(done, of int) // progress of the run
}

// Default returns the default configuration of a workload.
func Default(workload string) Config {
	return Config{Spec: Spec{
		Workload: workload, Device: "rtl:", Nodes: 2, Procs: 1, Seed: 1,
		Velo:       velo.Config{Flow: velo.Dynamic, Slots: 64, CreditSlots: 2, Piggyback: true},
		Cost:       host.DefaultCost(),
		Rendezvous: host.RGET, Chunk: 128 << 10, Outstanding: 4,
	}}
}

// MaxCompute is the longest single computation of a pattern.
const MaxCompute = drivers.Second

// maxMessage bounds a node's memory.
const maxMessage = 64 << 20

// Ranks returns the number of ranks in the world.
func (c *Spec) Ranks() int {
	if len(c.Hosts) > 0 {
		return len(c.Hosts) * c.Procs
	}
	return c.Nodes * c.Procs
}

// Validate checks everything that does not depend on the device.
func (c *Spec) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", drivers.ErrConfig, fmt.Sprintf(format, args...))
	}
	switch {
	case c.Nodes < 1 || c.Nodes > regs.HeaderNodes:
		return bad("%d nodes: expected 1 to %d, because the header field dst_node has 12 bits", c.Nodes, regs.HeaderNodes)
	case c.Procs < 1 || c.Procs > regs.VPIDs:
		return bad("%d processes per node: expected 1 to %d, the VPIDs of a node", c.Procs, regs.VPIDs)
	case c.Ranks() < 2:
		return bad("a world of one rank has no peer: set --nodes or --procs to at least 2")
	case c.Iterations < 1 || c.Iterations > limits.Count:
		return bad("%d iterations: expected 1 to %d", c.Iterations, limits.Count)
	case c.Warmup < 0 || c.Warmup > limits.Count:
		return bad("%d warm-up iterations: expected 0 to %d", c.Warmup, limits.Count)
	case c.Offset < 0:
		return bad("offset of %d ps: expected more than 0", c.Offset)
	case c.SlotTime < 0 || c.SlotTime > MaxSlotTime:
		return bad("slot time of %d ps: expected 0 to %d", c.SlotTime, MaxSlotTime)
	case c.Compute < 0 || c.Compute > MaxCompute:
		return bad("computation of %d ps: expected 0 to %d", c.Compute, MaxCompute)
	case c.Jitter < 0 || c.Jitter > 100:
		return bad("jitter of %d %%: expected 0 to 100", c.Jitter)
	case c.Variation < 0 || c.Variation > 8:
		return bad("lengths vary by %d eighths: expected 0 to 8", c.Variation)
	case c.GetsLonger < 0 || c.GetsLonger > 100:
		return bad("gets longer by %d %%: expected 0 to 100", c.GetsLonger)
	case c.Beside < 0 || c.Beside > 100 || c.Beside > 0 && (c.Procs > 1 || len(c.NVM) > 0):
		return bad("memory rate of %d %% during computation with %d processes per node: expected 0 to 100, one process, and no slow memory", c.Beside, c.Procs)
	case c.Limit < 0:
		return bad("limit of %d ps: expected 0 or more", c.Limit)
	case len(c.Sizes) == 0:
		return bad("no message sizes: expected at least one")
	}
	for i, n := range c.Hosts {
		if n < 0 || n >= c.Nodes || slices.Contains(c.Hosts[:i], n) {
			return bad("host %d: expected nodes 0 to %d, each once", n, c.Nodes-1)
		}
	}
	for _, n := range c.Sizes {
		if n < 0 || n > maxMessage {
			return bad("message of %d bytes: expected 0 to %d", n, maxMessage)
		}
	}
	for _, n := range c.NVM {
		if err := n.validate(c.Nodes); err != nil {
			return err
		}
	}
	if err := errors.Join(c.Reuse.Check(), c.Eager.validate()); err != nil {
		return err
	}
	_, err := c.Velo.MailboxSlots(c.Ranks())
	return err
}

// addrs places rank r on host r/Procs.
func (c *Spec) addrs() []velo.Addr {
	list := make([]velo.Addr, c.Ranks())
	for r := range list {
		node := r / c.Procs
		if len(c.Hosts) > 0 {
			node = c.Hosts[node]
		}
		list[r] = velo.Addr{Node: node, VPID: r % c.Procs}
	}
	return list
}
