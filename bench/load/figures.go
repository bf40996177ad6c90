package load

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
)

// Figures draws the usual plots, by name: latency and throughput over the rate and, for the last
// rate, throughput over time, the latency histogram, and link loads, both sorted and as a map.
func Figures(title string, t topology.Topology, rates []*Rate) map[string]*figure.Figure {
	last := rates[len(rates)-1].Seeds[0]
	return map[string]*figure.Figure{
		"latency":    latencies(title, rates),
		"throughput": throughput(title, rates),
		"series":     series(title, rates),
		"histogram":  histogram(fmt.Sprintf("%s, rate %g", title, last.Rate), last),
		"links":      links(fmt.Sprintf("%s, rate %g", title, last.Rate), last),
		"map":        Map(fmt.Sprintf("%s, rate %g", title, last.Rate), t, last.Links),
	}
}

// FigureNames are the keys of [Figures].
var FigureNames = []string{"latency", "throughput", "series", "histogram", "links", "map"}

var offered = figure.Axis{Label: "offered", Unit: "flits per node and cycle"}

// latencies ends at the first saturated rate, whose latency depends on the instant of measurement,
// and omits rates without measured packets.
func latencies(title string, rates []*Rate) *figure.Figure {
	f := &figure.Figure{Title: title, X: offered, Y: figure.Axis{Label: "latency", Unit: "cycles"}}
	mean, high := figure.Series{Name: "mean"}, figure.Series{Name: "99 %"}
	for i, r := range rates {
		if r.State == Saturated && i > 0 {
			f.Marks = append(f.Marks, figure.Mark{Vertical: true, At: r.Rate, Text: "saturated"})
			break
		}
		if r.Latency == 0 {
			continue
		}
		mean.Points = append(mean.Points, figure.Point{X: r.Rate, Y: r.Latency, Low: r.Spread, High: r.Spread})
		high.Points = append(high.Points, figure.Point{X: r.Rate, Y: float64(r.Seeds[0].Latency.P99)})
	}
	f.Series = []figure.Series{mean, high}
	return f
}

func throughput(title string, rates []*Rate) *figure.Figure {
	f := &figure.Figure{Title: title, X: offered, Y: figure.Axis{Label: "accepted", Unit: "flits per node and cycle"}}
	s := figure.Series{Name: "all nodes"}
	worst := figure.Series{Name: "the worst node"}
	for _, r := range rates {
		s.Points = append(s.Points, figure.Point{X: r.Rate, Y: r.Accepted, Low: r.Within, High: r.Within})
		worst.Points = append(worst.Points, figure.Point{X: r.Rate, Y: r.Seeds[0].Least})
	}
	f.Series = []figure.Series{s, worst}
	return f
}

func series(title string, rates []*Rate) *figure.Figure {
	f := &figure.Figure{Title: title, X: figure.Axis{Label: "time", Unit: "cycles"}, Y: figure.Axis{Label: "accepted", Unit: "flits per node and cycle"}}
	every := max(1, (len(rates)+5)/6)
	for i := (len(rates) - 1) % every; i < len(rates); i += every {
		p := rates[i].Seeds[0]
		window := float64(p.Cycles) / float64(len(p.Series))
		s := figure.Series{Name: fmt.Sprintf("rate %g", p.Rate)}
		for k, v := range p.Series {
			s.Points = append(s.Points, figure.Point{X: float64(k+1) * window, Y: v})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func histogram(title string, p *Point) *figure.Figure {
	f := &figure.Figure{Title: title, X: figure.Axis{Label: "latency", Unit: "cycles", Scale: figure.Log10}, Y: figure.Axis{Label: "packets of at least so many cycles", Unit: "%"}}
	s := figure.Series{}
	left := float64(p.Packets)
	for _, c := range p.Classes {
		s.Points = append(s.Points, figure.Point{X: float64(max(c.From, 1)), Y: 100 * left / float64(p.Packets)})
		left -= float64(c.Packets)
	}
	if len(s.Points) == 0 {
		s.Points = []figure.Point{{X: 1}}
	}
	f.Series = []figure.Series{s}
	return f
}

// links plots the loads of each kind of links, in descending order.
func links(title string, p *Point) *figure.Figure {
	f := &figure.Figure{Title: title, X: figure.Axis{Label: "links of a kind, the fullest first", Unit: "%"}, Y: figure.Axis{Label: "load", Unit: "of the cycles"}}
	for _, k := range Kinds(p.Links) {
		s := figure.Series{Name: k.Name}
		for i := range 101 {
			s.Points = append(s.Points, figure.Point{X: float64(i), Y: k.Loads[i*(len(k.Loads)-1)/100]})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// A Kind holds the loads of all links of one kind, in descending order.
type Kind struct {
	Name  string
	Loads []float64
}

// Kinds groups links: those to nodes, and wires by their latency in cycles.
func Kinds(list []Link) (kinds []Kind) {
	loads := map[int][]float64{}
	for _, l := range list {
		loads[l.Cycles] = append(loads[l.Cycles], l.Load)
	}
	var keys []int
	for c := range loads {
		keys = append(keys, c)
	}
	slices.Sort(keys)
	for _, c := range keys {
		name := fmt.Sprintf("wires of %d cycles", c)
		if c == 0 {
			name = "to nodes"
		}
		slices.Sort(loads[c])
		slices.Reverse(loads[c])
		kinds = append(kinds, Kind{name, loads[c]})
	}
	return kinds
}
