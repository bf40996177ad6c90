package bridgebench

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A Spread is the distribution of a quantity over all rounds.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"lower_quartile"`
	High   float64 `json:"upper_quartile"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func (s Spread) String() string {
	return fmt.Sprintf("%9.3f  quartiles %.3f to %.3f  all %.3f to %.3f", s.Median, s.Low, s.High, s.Min, s.Max)
}

// A Result compares the two sides for one workload. Ratios are bare bench to bridge, per round: 1
// means that the bridge costs nothing. Times are microseconds per crossing, which is one Run.
type Result struct {
	Workload     string  `json:"workload"`
	Transactions int     `json:"transactions"` // per round
	Cycles       uint64  `json:"cycles"`       // per round, equal on both sides
	Crossings    int     `json:"crossings"`    // per round
	Goal         float64 `json:"goal_ratio"`   // for the ratio of elapsed time

	BareTransactions   Spread `json:"bare_transactions_per_s"`
	BridgeTransactions Spread `json:"bridge_transactions_per_s"`
	ElapsedRatio       Spread `json:"ratio_elapsed"`
	ModelRatio         Spread `json:"ratio_processor_simulator"` // without the host process; 0 if the model has no process of its own
	ProcessorRatio     Spread `json:"ratio_processor"`

	BareElapsed     Spread `json:"bare_elapsed_us"`
	BareProcessor   Spread `json:"bare_processor_us"`
	BridgeElapsed   Spread `json:"bridge_elapsed_us"`
	BridgeProcessor Spread `json:"bridge_processor_us"`
	Simulator       Spread `json:"bridge_processor_simulator_us"`
	Host            Spread `json:"bridge_processor_host_us"` // including polling for answers
	Outside         Spread `json:"host_work_us"`             // elapsed between two Runs
	CostElapsed     Spread `json:"crossing_elapsed_us"`      // bridge - bare - host work
	CostProcessor   Spread `json:"crossing_processor_us"`
}

// A Report is the result of Run.
type Report struct {
	Device  string   `json:"device"`
	Nodes   int      `json:"nodes"`
	Hash    string   `json:"rtl_hash"`
	Tool    string   `json:"tool"`
	Starts  int      `json:"starts"`
	Rounds  int      `json:"rounds"` // per start
	Results []Result `json:"results"`
}

// Write prints the report.
func (r Report) Write(w io.Writer) {
	fmt.Fprintf(w, "%s, %d nodes, %s, medians of %d interleaved rounds after each of %d starts\n", r.Device, r.Nodes, r.Tool, r.Rounds, r.Starts)
	for _, x := range r.Results {
		x.write(w)
	}
}

func (r *Result) write(w io.Writer) {
	perMessage := float64(r.Crossings) / float64(r.messages())
	fmt.Fprintf(w, "\n%s: %d transactions, %.3f crossings per message, %.1f cycles per crossing; goal %.2f\n",
		r.Workload, r.Transactions, perMessage, float64(r.Cycles)/float64(r.Crossings), r.Goal)
	for _, line := range []struct {
		name   string
		spread Spread
	}{
		{"bare transactions/s", r.BareTransactions},
		{"bridge transactions/s", r.BridgeTransactions},
		{"ratio, elapsed", r.ElapsedRatio},
		{"ratio, processor, simulator only", r.ModelRatio},
		{"ratio, processor", r.ProcessorRatio},
		{"us per crossing: bare, elapsed", r.BareElapsed},
		{"  bridge, elapsed", r.BridgeElapsed},
		{"  bare, processor", r.BareProcessor},
		{"  bridge, processor", r.BridgeProcessor},
		{"    of that the simulator", r.Simulator},
		{"    of that the host", r.Host},
		{"  host work, elapsed", r.Outside},
		{"  the crossing itself, elapsed", r.CostElapsed},
		{"  the crossing itself, processor", r.CostProcessor},
	} {
		if line.spread == (Spread{}) {
			continue // does not apply
		}
		fmt.Fprintf(w, "  %-34s %v\n", line.name, line.spread)
	}
}

func (r *Result) messages() int {
	if r.Workload == PingPong {
		return 2 * r.Transactions
	}
	return r.Transactions
}

// summarize compares rounds in pairs, so that load on the machine affects both sides of a ratio
// equally.
func (r *Result) summarize(bare, bridge []sample) {
	r.Cycles, r.Crossings = bare[0].cycles, bridge[0].runs
	over := func(f func(x, y *sample) float64) Spread {
		values := make([]float64, len(bare))
		for i := range bare {
			values[i] = f(&bare[i], &bridge[i])
		}
		return spread(values)
	}
	ratio := func(a, b time.Duration) float64 {
		if b <= 0 {
			return 0
		}
		return a.Seconds() / b.Seconds()
	}
	each := func(d time.Duration) float64 { return float64(d) / 1e3 / float64(r.Crossings) }
	rate := func(d time.Duration) float64 { return float64(r.Transactions) / d.Seconds() }

	r.BareTransactions = over(func(x, _ *sample) float64 { return rate(x.elapsed) })
	r.BridgeTransactions = over(func(_, y *sample) float64 { return rate(y.elapsed) })
	r.ElapsedRatio = over(func(x, y *sample) float64 { return ratio(x.elapsed, y.elapsed) })
	r.ModelRatio = over(func(x, y *sample) float64 { return ratio(x.model, y.model) })
	r.ProcessorRatio = over(func(x, y *sample) float64 { return ratio(x.model, y.processor()) })
	r.BareElapsed = over(func(x, _ *sample) float64 { return each(x.elapsed) })
	r.BareProcessor = over(func(x, _ *sample) float64 { return each(x.model) })
	r.BridgeElapsed = over(func(_, y *sample) float64 { return each(y.elapsed) })
	r.BridgeProcessor = over(func(_, y *sample) float64 { return each(y.processor()) })
	r.Simulator = over(func(_, y *sample) float64 { return each(y.model) })
	r.Host = over(func(_, y *sample) float64 { return each(y.host) })
	r.Outside = over(func(_, y *sample) float64 { return each(y.outside) })
	r.CostElapsed = over(func(x, y *sample) float64 { return each(y.elapsed - x.elapsed - y.outside) })
	r.CostProcessor = over(func(x, y *sample) float64 { return each(y.processor() - x.model - y.outside) })
}

func spread(values []float64) Spread {
	slices.Sort(values)
	at := func(part float64) float64 { // interpolated between adjacent values
		at := part * float64(len(values)-1)
		i := int(at)
		j := min(i+1, len(values)-1)
		return values[i] + (values[j]-values[i])*(at-float64(i))
	}
	return Spread{Median: at(0.5), Low: at(0.25), High: at(0.75), Min: values[0], Max: values[len(values)-1]}
}
