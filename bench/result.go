package bench

import (
	"slices"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/velo"
	"github.com/sirupsen/logrus"
)

// A Result holds the measurements of a run. It contains no real time: equal Specs give equal
// Results.
type Result struct {
	Config Spec         `json:"config"`
	Info   drivers.Info `json:"device"`
	Rows   []Row        `json:"rows"`
	NICs   []NIC        `json:"nics"`
	// Verified is the number of received bytes, all of which were verified.
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
	// Spread describes single iterations; nil if an iteration only posts.
	Spread *Spread `json:"iterations_ps,omitempty"`
	// HalfTrip is half of an iteration, for ping-pongs.
	HalfTrip       drivers.Time    `json:"half_round_trip_ps,omitempty"`
	HalfTripCycles float64         `json:"half_round_trip_cycles,omitempty"`
	Bandwidth      float64         `json:"mb_per_s"` // sum over all ranks
	Flow           FlowStats       `json:"flow_control"`
	Reuse          *ReuseStats     `json:"eager_by_rma,omitempty"`
	Reference      *Reference      `json:"without_flow_control,omitempty"`
	Blocks         []capture.Block `json:"blocks,omitempty"`
	// Overlap holds the cases of overlap and progress: each side, with an early and a late sender.
	Overlap []OverlapCase `json:"overlap,omitempty"`
	// Exchange holds the times of a step of stencil and halo.
	Exchange *Exchange `json:"exchange,omitempty"`
	// Eager holds the counters of each rank's channels since the world began, with eager thresholds.
	Eager []EagerRank `json:"eager,omitempty"`
	// App holds the statistics of an application pattern.
	App *AppStats `json:"application,omitempty"`
	// Flows and Links describe hotspot with slow memory: the flows, and the used links.
	Flows []FlowResult `json:"flows,omitempty"`
	Links []HeldLink   `json:"links,omitempty"`

	rtrs uint64 // that were sent
}

// FlowStats sums the flow control counters of all ranks, including warm-up.
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

// NIC holds a node's counters at the end of a run.
type NIC struct {
	Node     int    `json:"node"`
	Sent     uint64 `json:"tx_packets"`
	Received uint64 `json:"rx_packets"`
	TxStall  uint64 `json:"tx_stall_cycles"`
	RxStall  uint64 `json:"rx_stall_cycles"`
	Dropped  uint64 `json:"dropped"`
	// Errors that the links into this node corrected.
	CRCErrors       uint64 `json:"link_crc_errors"`
	Retransmissions uint64 `json:"link_retransmissions"`
	Timeouts        uint64 `json:"link_timeouts"`
	// Counters of the write limiter: bytes passed, and cycles for which writes were stalled.
	NVMBytes uint64 `json:"nvm_bytes,omitempty"`
	NVMStall uint64 `json:"nvm_stall_cycles,omitempty"`
}

func newResult(w *World) *Result { return &Result{Config: w.Config.Spec, Info: w.Sys.Info()} }

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

// addTraffic replaces the counts of the last row by those of the plan of flows.
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

// addOverlap replaces the iterations of the last row, which are single samples, by the cases.
func (res *Result) addOverlap(t *task) {
	row := &res.Rows[len(res.Rows)-1]
	row.Overlap, row.Messages, row.Bandwidth, row.Iteration = t.overlap, t.sent, 0, 0
}

// flowStats sums the counters of all ranks.
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
			logs.Layer(w.Config.Log, "world").WithFields(logrus.Fields{"node": n, "crc_errors": nic.CRCErrors, "retransmissions": nic.Retransmissions, "timeouts": nic.Timeouts}).Debug("links retransmitted")
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

// checkStalls verifies that with flow control no mailbox was ever full when a packet arrived,
// because each packet had a credit (FC paper, section 5.2).
func (w *World) checkStalls(res *Result) error {
	for _, n := range res.NICs {
		if n.RxStall != 0 {
			return &OverflowError{Flow: string(w.Config.Velo.Flow), Node: n.Node, Cycles: n.RxStall}
		}
	}
	return nil
}

// checkCounters verifies that the NICs sent and received as many packets as the software sent and
// retrieved.
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
