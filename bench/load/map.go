package load

import (
	"fmt"
	"math"
	"strconv"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
)

// Map draws the loads of links by position. Dragonfly: the wire from each group to each other one,
// and the most loaded one within a group. Mesh or torus: the most loaded wire of each router, at
// its position. Fat tree: the most loaded wire of adjacent routers, up and down from each level.
func Map(title string, t topology.Topology, list []Link) *figure.Figure {
	f := &figure.Figure{Title: title, Width: 7, Height: 6}
	var m loadMap
	switch t := t.(type) {
	case topology.Dragonfly:
		f.X.Label, f.Y.Label = "to group", "from group"
		m = newLoadMap(count(t.Groups()), count(t.Groups()))
		m.each(list, func(l Link) (x, y int) { return l.To / t.A, l.Router / t.A })
	case topology.Grid:
		f.X.Label, f.Y.Label = "router, first dimension", "the others"
		width := t.Dims[0]
		m = newLoadMap(count(width), count(t.Routers()/width))
		m.each(list, func(l Link) (x, y int) { return l.Router % width, l.Router / width })
	case topology.FatTree:
		f.X.Label, f.Y.Label = "routers of a level, side by side", "wires"
		const columns = 64
		block := (t.Row() + columns - 1) / columns
		m = newLoadMap(count((t.Row()+block-1)/block), levels(t.Levels))
		m.each(list, func(l Link) (x, y int) {
			at, level := l.Router%t.Row()/block, t.Level(l.Router)
			if t.Level(l.To) > level {
				return at, 2 * level
			}
			return at, 2*level - 1
		})
	}
	f.Heat = &figure.Heat{X: m.x, Y: m.y, Values: m.values, Label: "load", Unit: "of the cycles"}
	return f
}

type loadMap struct {
	x, y   []string
	values [][]float64
}

func newLoadMap(x, y []string) loadMap {
	m := loadMap{x: x, y: y}
	for range y {
		row := make([]float64, len(x))
		for i := range row {
			row[i] = math.NaN()
		}
		m.values = append(m.values, row)
	}
	return m
}

// each assigns the loads of wires between routers to fields; the maximum counts if there are
// several.
func (m *loadMap) each(list []Link, where func(l Link) (x, y int)) {
	for _, l := range list {
		if l.To < 0 {
			continue
		}
		x, y := where(l)
		if v := &m.values[y][x]; math.IsNaN(*v) || l.Load > *v {
			*v = math.Round(l.Load*1000) / 1000
		}
	}
}

func count(n int) (names []string) {
	for i := range n {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// levels names the wires up and down between levels of a tree, from the lowest.
func levels(n int) (names []string) {
	for l := range n - 1 {
		names = append(names, fmt.Sprintf("%d up", l), fmt.Sprintf("%d down", l+1))
	}
	return names
}
