package bench

import (
	"slices"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/velo"
	"github.com/sirupsen/logrus"
)

// A Result is what a run measured. It holds no wall-clock time: the same
// Config gives the same Result.
type Result struct {
	Config Config       `json:"config"`
	Info   drivers.Info `json:"device"`
	Rows   []Row        `json:"rows"`
	NICs   []NIC        `json:"nics"`
	// Verified bytes: all that were received.
	Verified uint64       `json:"verified_bytes"`
	End      drivers.Time `json:"end_ps"`
	Cycles   uint64       `json:"cycles"`
}

// A Row is the measurement of one message size.
type Row struct {
	Bytes      int          `json:"bytes"`
	Algorithm  string       `json:"algorithm,omitempty"` // of a collective
	Iterations int          `json:"iterations"`
	Messages   int          `json:"messages"` // in the timed iterations, all ranks
	Elapsed    drivers.Time `json:"elapsed_ps"`
	Iteration  drivers.Time `json:"per_iteration_ps"`
	// Spread is of single iterations; nil if an iteration only posts, and says nothing.
	Spread *Spread `json:"iterations_ps,omitempty"`
	// HalfTrip is half of an iteration, for ping-pongs.
	HalfTrip       drivers.Time    `json:"half_round_trip_ps,omitempty"`
	HalfTripCycles float64         `json:"half_round_trip_cycles,omitempty"`
	Bandwidth      float64         `json:"mb_per_s"` // of all ranks together
	Flow           FlowStats       `json:"flow_control"`
	Reuse          *ReuseStats     `json:"eager_by_rma,omitempty"`
	Reference      *Reference      `json:"without_flow_control,omitempty"`
	Blocks         []capture.Block `json:"blocks,omitempty"`
	// Of overlap and progress: each side, with an early and a late sender.
	Overlap []OverlapCase `json:"overlap,omitempty"`
	// Of stencil and halo: the times of a step.
	Exchange *Exchange `json:"exchange,omitempty"`
	// With eager thresholds: what each rank's channels have done since the world began.
	Eager []EagerRank `json:"eager,omitempty"`
	// Of the pattern of an application: what ranks did besides, and what speculation did.
	App *AppStats `json:"application,omitempty"`
	// Of a hotspot with slow memory: the flows, and the links that were used.
	Flows []FlowResult `json:"flows,omitempty"`
	Links []HeldLink   `json:"links,omitempty"`
}

// FlowStats add up the flow control of all ranks, warm-up included.
type FlowStats struct {
	DataPackets        uint64 `json:"data_packets"`
	CreditPackets      uint64 `json:"credit_packets"`
	DelayedSends       uint64 `json:"delayed_sends"`
	DelayedMessages    uint64 `json:"delayed_messages"`
	Messages           uint64 `json:"messages"`
	PiggybackedPackets uint64 `json:"piggybacked_packets"`
	PiggybackedCredits uint64 `json:"piggybacked_credits"`
	Steals             uint64 `json:"steals"`
	StolenCredits      uint64 `json:"stolen_credits"`
	Requests           uint64 `json:"compulsory_requests"`
	Responses          uint64 `json:"compulsory_responses"`
}

// NIC holds one node's counters at the end of a run.
type NIC struct {
	Node     int    `json:"node"`
	Sent     uint64 `json:"tx_packets"`
	Received uint64 `json:"rx_packets"`
	TxStall  uint64 `json:"tx_stall_cycles"`
	RxStall  uint64 `json:"rx_stall_cycles"`
	Dropped  uint64 `json:"dropped"`
	// What the links that arrive here had to repair.
	CRCErrors       uint64 `json:"link_crc_errors"`
	Retransmissions uint64 `json:"link_retransmissions"`
	Timeouts        uint64 `json:"link_timeouts"`
	// What the write limiter let through, and how long writes waited for it.
	NVMBytes uint64 `json:"nvm_bytes,omitempty"`
	NVMStall uint64 `json:"nvm_stall_cycles,omitempty"`
}

func newResult(w *World) *Result { return &Result{Config: w.Config, Info: w.Sys.Info()} }

func (res *Result) add(w *World, wl *Workload, t *task, n int, flow FlowStats, blocks []capture.Block) {
	c := t.c
	row := Row{
		Bytes: n, Algorithm: wl.algorithm(c, n), Iterations: c.Iterations, Messages: wl.messages(c) * c.Iterations,
		Elapsed: t.elapsed(), Flow: flow, Blocks: blocks,
	}
	row.Iteration = row.Elapsed / drivers.Time(c.Iterations)
	if wl.halfTrip {
		row.HalfTrip = row.Iteration / 2
		row.HalfTripCycles = float64(row.HalfTrip) / float64(res.Info.ClockPS)
	}
	if !wl.posts {
		row.Spread = spreadOf(slices.Concat(t.each...))
	}
	if row.Elapsed > 0 && wl != &random {
		row.Bandwidth = float64(wl.volume(c, n)) * float64(c.Iterations) / 1e6 / (float64(row.Elapsed) / float64(drivers.Second))
	}
	for _, n := range t.bytes {
		res.Verified += n
	}
	res.Rows = append(res.Rows, row)
}

// addTraffic replaces the counts of the last row, which a plan of flows knows
// better than the workload.
func (res *Result) addTraffic(f *traffic) {
	row := &res.Rows[len(res.Rows)-1]
	row.Flows, row.Messages, row.Bandwidth = f.results(), 0, 0
	for i, l := range f.pairs {
		row.Messages += l.received
		row.Bandwidth += row.Flows[i].MBps
	}
	if f.held != nil {
		row.Links = f.held.list(f.cycles())
	}
}

// addOverlap replaces what the last row has of iterations, which are those of every single sample,
// by the cases.
func (res *Result) addOverlap(t *task) {
	row := &res.Rows[len(res.Rows)-1]
	row.Overlap, row.Messages, row.Bandwidth, row.Iteration = t.overlap, t.sent, 0, 0
}

// flowStats adds up the counters of all ranks.
func (w *World) flowStats() (f FlowStats) {
	for _, r := range w.Ranks {
		m, v := r.Stats(), r.Endpoint().Stats()
		f.Messages += m.MessagesSent
		f.DelayedMessages += m.DelayedMessages
		f.DataPackets += v.Sent
		f.CreditPackets += v.Flow.CreditPackets
		f.DelayedSends += v.Flow.Delayed
		f.PiggybackedPackets += v.Flow.PiggybackedPackets
		f.PiggybackedCredits += v.Flow.PiggybackedCredits
		f.Steals += v.Flow.Steals
		f.StolenCredits += v.Flow.StolenCredits
		f.Requests += v.Flow.Requests
		f.Responses += v.Flow.Responses
	}
	return f
}

func (f FlowStats) minus(g FlowStats) FlowStats {
	return FlowStats{
		DataPackets: f.DataPackets - g.DataPackets, CreditPackets: f.CreditPackets - g.CreditPackets,
		DelayedSends: f.DelayedSends - g.DelayedSends, DelayedMessages: f.DelayedMessages - g.DelayedMessages,
		Messages:           f.Messages - g.Messages,
		PiggybackedPackets: f.PiggybackedPackets - g.PiggybackedPackets,
		PiggybackedCredits: f.PiggybackedCredits - g.PiggybackedCredits,
		Steals:             f.Steals - g.Steals, StolenCredits: f.StolenCredits - g.StolenCredits,
		Requests: f.Requests - g.Requests, Responses: f.Responses - g.Responses,
	}
}

// finish reads the hardware's counters and checks them against the software's.
func (w *World) finish(res *Result) error {
	res.End, res.Cycles = w.Kernel.Now(), uint64(w.Sys.Now())
	for n := range w.Config.Nodes {
		nic, err := readNIC(w.Sys.Device(n), n)
		if err != nil {
			return err
		}
		if err := readLinks(w.Sys.Device(n), &nic); err != nil {
			return err
		}
		if nic.Retransmissions+nic.Timeouts > 0 {
			logged.WithFields(logrus.Fields{"node": n, "crc_errors": nic.CRCErrors, "retransmissions": nic.Retransmissions, "timeouts": nic.Timeouts}).Debug("links sent again")
		}
		if err := w.readNVM(&nic); err != nil {
			return err
		}
		res.NICs = append(res.NICs, nic)
	}
	if w.Config.Finished != nil {
		if err := w.Config.Finished(w.Sys); err != nil {
			return err
		}
	}
	return w.checkCounters(res)
}

func readNIC(dev drivers.Device, node int) (NIC, error) {
	nic := NIC{Node: node}
	var crc, route, tx, rx uint64
	for _, c := range []struct {
		off uint32
		to  *uint64
	}{
		{regs.TXPackets, &nic.Sent}, {regs.RXPackets, &nic.Received}, {regs.TXStall, &nic.TxStall}, {regs.RXStall, &nic.RxStall},
		{regs.TXDropped, &tx}, {regs.RXDropped, &rx}, {regs.RXCRCErrors, &crc}, {regs.RouteErrors, &route},
	} {
		v, err := dev.ReadReg(c.off)
		if err != nil {
			return nic, err
		}
		*c.to = v
	}
	nic.Dropped = tx + rx + crc + route
	return nic, nil
}

// checkStalls: a credit stands for a free slot, so with flow control no mailbox
// is ever full when a packet comes (FC paper, section 5.2).
func (w *World) checkStalls(res *Result) error {
	for _, n := range res.NICs {
		if n.RxStall != 0 {
			return &OverflowError{Flow: string(w.Config.Velo.Flow), Node: n.Node, Cycles: n.RxStall}
		}
	}
	return nil
}

// checkCounters: what the NICs sent, what they received and what the software
// handled must be the same number of packets.
func (w *World) checkCounters(res *Result) error {
	var hwSent, hwReceived, dropped, swSent, swReceived uint64
	for _, n := range res.NICs {
		hwSent, hwReceived, dropped = hwSent+n.Sent, hwReceived+n.Received, dropped+n.Dropped
	}
	for _, r := range w.Ranks {
		s := r.Endpoint().Stats()
		swSent, swReceived = swSent+s.Posted, swReceived+s.Taken
	}
	if hwSent != swSent || hwReceived != swSent || swReceived != swSent || dropped != 0 {
		return &LostError{Posted: swSent, Injected: hwSent, Delivered: hwReceived, Taken: swReceived, Dropped: dropped}
	}
	if w.Config.Velo.Flow != velo.None {
		return w.checkStalls(res)
	}
	return nil
}
