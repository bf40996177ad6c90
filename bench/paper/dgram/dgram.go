// Package dgram reproduces figures of the paper on datagram iWARP: verbs over a simulated Ethernet,
// where RC has a connection with MPA and markers, and UD has datagrams.
package dgram

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/iwarpperf"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/cosim/ethernet"
)

// Experiments returns the experiments in the order of the paper.
func Experiments() []*paper.Experiment { return []*paper.Experiment{fig63(), fig65()} }

const (
	engine    = "cosim/ethernet"
	paperSize = "two nodes of a cluster with 10 Gbit/s Ethernet, RNICs of NetEffect (C1) and Myricom (C2)"

	kilobyte = 1024
	splitAt  = 64 * kilobyte // longer than a datagram
)

// kinds are the types of queue pairs that are compared. The paper measures RC and UD.
func kinds() []string { return []string{"rc", "ud", "rd"} }

// sizes are the message sizes of a scale.
func sizes(e *paper.Env) (list []int) {
	if e.Scale == paper.Small {
		return []int{1, 64, kilobyte, 2 * kilobyte, 16 * kilobyte, splitAt}
	}
	for size := 1; size <= splitAt; size *= 2 {
		list = append(list, size)
	}
	return list
}

// measurement measures messages of one size.
type measurement func(ctx context.Context, c *iwarpperf.Client, size int) (float64, error)

// measured returns the measurement of sizes over every type, each on a network of its own.
func measured(unit string, one measurement, sizes func(*paper.Env) []int,
) func(context.Context, *paper.Env) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
		list := sizes(e)
		n := len(kinds())
		values, frames := make([]float64, len(list)*n), make([]uint64, len(list)*n)
		if e.Plan != nil {
			e.Plan(len(values), 0, 0)
		}
		err := e.EachCounted(ctx, len(values), func(ctx context.Context, i int) (err error) {
			values[i], frames[i], err = measure(ctx, e, kinds()[i%n], list[i/n], one)
			return err
		})
		if err != nil {
			return nil, err
		}
		e.RunCount += len(values)
		for _, count := range frames {
			e.PacketCount += count
		}
		e.Worlds = append(e.Worlds, "2 hosts, one switch, 10 Gbit/s, MTU 1500")
		t := &paper.Table{Columns: []string{"bytes"}}
		for _, kind := range kinds() {
			t.Columns = append(t.Columns, column(kind, unit))
		}
		for i, size := range list {
			row := []any{size}
			for _, v := range values[i*n : (i+1)*n] {
				row = append(row, v)
			}
			t.Add(row...)
		}
		return t, nil
	}
}

func column(kind, unit string) string { return fmt.Sprintf("%s (%s)", kind, unit) }

// setup is what a mutation can change.
type setup struct {
	kind    string
	network ethernet.Config
}

// measure also returns the number of frames that were sent.
func measure(ctx context.Context, e *paper.Env, kind string, size int, one measurement,
) (value float64, frames uint64, err error) {
	s := paper.Mutated(e, setup{kind: kind})
	network, err := ethernet.New(s.network)
	if err != nil {
		return 0, 0, err
	}
	c, err := iwarpperf.Open(ctx, iwarpperf.ClientOptions{QP: s.kind, Network: network, Markers: true})
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	value, err = one(ctx, c, size)
	return value, network.Counters().FramesSent, err
}

// noDatagrams is the mutation that sends the messages of UD and RD over a connection.
func noDatagrams(config any) {
	if s, ok := config.(*setup); ok {
		s.kind = "rc"
	}
}

// freeCore is the mutation that lets the core work in no time, so that only the cables count.
func freeCore(config any) {
	if s, ok := config.(*setup); ok {
		c := &s.network
		c.SendCost, c.ReceiveCost, c.FrameCost, c.SegmentCost = 1, 1, 1, 1
	}
}

// decisive are the sizes at which the claims about short messages are decided.
func decisive(*paper.Env) []int { return []int{64, kilobyte, 2 * kilobyte} }

// plot draws the types over the message size.
func plot(title, unit, y string, scale figure.Scale) func(*paper.Table) []*figure.Figure {
	return func(t *paper.Table) []*figure.Figure {
		f := &figure.Figure{
			Title: title, X: figure.Axis{Label: "message size", Unit: "bytes", Scale: figure.Log2},
			Y: figure.Axis{Label: y, Unit: unit, Scale: scale},
		}
		for _, kind := range kinds() {
			f.Series = append(f.Series, figure.Series{Name: kind, Points: t.Points("bytes", column(kind, unit))})
		}
		return []*figure.Figure{f}
	}
}
