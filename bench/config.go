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
)

// Config is one run. Its JSON form is part of every result.
type Config struct {
	Workload string `json:"workload"`
	Device   string `json:"device"`
	Nodes    int    `json:"nodes"`
	Procs    int    `json:"procs"` // per node
	// Hosts are the nodes that have processes, in the order of the ranks; empty: all.
	Hosts      []int `json:"hosts,omitempty"`
	Sizes      []int `json:"sizes_bytes"`
	Iterations int   `json:"iterations"`
	Warmup     int   `json:"warmup"`
	// Algorithm is that of a collective; empty: as host's table has it, of alltoall the linear one.
	Algorithm string      `json:"algorithm,omitempty"`
	Velo      velo.Config `json:"flow_control"`
	Cost      host.Cost   `json:"cost_model"`
	// Local lets messages between ranks of a node bypass the NIC.
	Local bool `json:"local"`
	// Rendezvous is how messages beyond host.EagerMax travel; Chunk and
	// Outstanding belong to the chunked one.
	Rendezvous  host.Rendezvous `json:"rendezvous"`
	Chunk       int             `json:"chunk_bytes"`
	Outstanding int             `json:"outstanding"`
	// AlwaysSpeculate has the rendezvous spec go on whatever becomes of its RTRs.
	AlwaysSpeculate bool `json:"always_speculate,omitempty"`
	// Reuse has eager messages go by RMA, from buffers that are used often without a copy.
	Reuse host.Reuse `json:"reuse,omitzero"`
	// Eager lets messages beyond host.EagerMax be eager; nil: none are.
	Eager *Thresholds `json:"eager,omitempty"`
	// NVM are nodes whose memory is slow to write; Hot is how many ranks send to
	// each of them when hotspot runs with NVM.
	NVM []NVM `json:"nvm,omitempty"`
	Hot int   `json:"hot,omitempty"`
	// SlotTime is what memory takes for the 64 bytes of a mailbox slot, one after the other; 0: as
	// fast as the NIC writes them.
	SlotTime drivers.Time `json:"slot_ps,omitempty"`
	// Compute is how long a rank computes at a time: in the pattern of an application whenever it
	// produces or consumes, in stencil and halo in each step (0: twice what a link needs for what a
	// rank sends). Jitter is how much longer that takes in a pattern, in percent of it at most, by the
	// seed.
	Compute drivers.Time `json:"compute_ps,omitempty"`
	Jitter  int          `json:"compute_jitter_percent,omitempty"`
	// GetsLonger is by how much longer than a put a get of as many bytes takes in a pattern, in
	// percent; Beside is at how much of line rate, in percent, memory takes what the NIC writes while
	// a rank of a pattern computes; 0: at all of it. Both are what other machines may have, for
	// experiments.
	GetsLonger int `json:"gets_longer_percent,omitempty"`
	Beside     int `json:"memory_beside_percent,omitempty"`
	// Helper gives every rank of overlap and progress a thread that makes progress while it computes.
	Helper bool `json:"progress_thread,omitempty"`
	// Offset is how much later the later side posts in overlap and progress; 0: DefaultOffset.
	Offset drivers.Time `json:"offset_ps,omitempty"`
	Seed   int64        `json:"seed"`
	// Limit is the simulated time after which the run is given up; 0: none.
	Limit drivers.Time `json:"limit_ps"`

	// Threads may simulate the world where the device can use them; 0: one. The result does
	// not depend on it. What is looked into (Pcap, Blocks) or recorded takes one.
	Threads int `json:"-"`

	Pcap   io.Writer           `json:"-"` // pcapng of every link
	Record io.Writer           `json:"-"` // transaction log of the run
	Blocks bool                `json:"-"` // latency by block
	Waves  *drivers.WaveWindow `json:"-"`
	// Checkpoints are for a run that fails: its end is repeated with waves, and Repeated is told what
	// they show.
	Checkpoints *drivers.Checkpoints          `json:"-"`
	Repeated    func(drivers.Repeated, error) `json:"-"`
	// System is given what was opened, before anything else.
	System func(drivers.System) `json:"-"`
	// Opened and Finished are given the device before the first rank starts and
	// after the last one has ended, to set and to read what no rank does.
	// Open opens the device; nil: registry.Open.
	Open     func(context.Context, string, drivers.Options) (drivers.System, error) `json:"-"`
	Opened   func(drivers.Timed) error                                              `json:"-"`
	Finished func(drivers.Timed) error                                              `json:"-"`
	held     *heldLinks                                                             // congestion, link by link
	LogFile  string                                                                 `json:"-"`
	Building func(what string)                                                      `json:"-"`
	Step     func(done, of int)                                                     `json:"-"` // progress of the run
	bounded  bool                                                                   // iterations are fewer at long messages
	buffers  int                                                                    // messages of the longest size that a rank holds
	Ended    func(drivers.Time)                                                     `json:"-"` // told when simulated time ended, also on failure
}

// Default is the configuration of a run of which only the workload is known.
func Default(workload string) Config {
	return Config{
		Workload: workload, Device: "rtl:", Nodes: 2, Procs: 1, Seed: 1,
		Velo:       velo.Config{Flow: velo.Dynamic, Slots: 64, CreditSlots: 2, Piggyback: true},
		Cost:       host.DefaultCost(),
		Rendezvous: host.RGET, Chunk: 128 << 10, Outstanding: 4,
	}
}

// MaxCompute is the longest single computation of a pattern.
const MaxCompute = drivers.Second

// maxMessage keeps a node's memory within reason.
const maxMessage = 64 << 20

// Ranks is the number of ranks in the world.
func (c *Config) Ranks() int {
	if len(c.Hosts) > 0 {
		return len(c.Hosts) * c.Procs
	}
	return c.Nodes * c.Procs
}

// Validate checks what does not depend on the device.
func (c *Config) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", drivers.ErrConfig, fmt.Sprintf(format, args...))
	}
	switch {
	case c.Nodes < 1 || c.Nodes > regs.HeaderNodes:
		return bad("%d nodes: expected 1 to %d, as the field dst_node of headers has 12 bits", c.Nodes, regs.HeaderNodes)
	case c.Procs < 1 || c.Procs > regs.VPIDs:
		return bad("%d processes per node: expected 1 to %d, the VPIDs of a node", c.Procs, regs.VPIDs)
	case c.Ranks() < 2:
		return bad("a world of one rank has nobody to talk to: give --nodes or --procs at least 2")
	case c.Iterations < 1 || c.Iterations > limits.Count:
		return bad("%d iterations: expected 1 to %d", c.Iterations, limits.Count)
	case c.Warmup < 0 || c.Warmup > limits.Count:
		return bad("%d warm-up iterations: expected 0 to %d", c.Warmup, limits.Count)
	case c.Offset < 0:
		return bad("an offset of %d ps: expected more than 0", c.Offset)
	case c.SlotTime < 0 || c.SlotTime > MaxSlotTime:
		return bad("a slot time of %d ps: expected 0 to %d", c.SlotTime, MaxSlotTime)
	case c.Compute < 0 || c.Compute > MaxCompute:
		return bad("a computation of %d ps: expected 0 to %d", c.Compute, MaxCompute)
	case c.Jitter < 0 || c.Jitter > 100:
		return bad("computations that take up to %d %% longer: expected 0 to 100", c.Jitter)
	case c.GetsLonger < 0 || c.GetsLonger > 100:
		return bad("gets that take %d %% longer: expected 0 to 100", c.GetsLonger)
	case c.Beside < 0 || c.Beside > 100 || c.Beside > 0 && (c.Procs > 1 || len(c.NVM) > 0):
		return bad("memory that is left %d %% of its rate beside a computation, %d processes per node: expected 0 to 100, one process, and no slow memory besides", c.Beside, c.Procs)
	case c.Limit < 0:
		return bad("a limit of %d ps: expected 0 or more", c.Limit)
	case len(c.Sizes) == 0:
		return bad("no message sizes: give at least one")
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

// addrs puts rank r on host r/Procs.
func (c *Config) addrs() []velo.Addr {
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
