package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const wire = 300 // ps in front of a LUT, and of a pin of a RAM or a clock enable

// An end is the slowest path that ends in a block.
type end struct {
	block, from string // where it starts
	ps          int
	path        []step
}

// A step is a cell, with the wire that it drives and when that is settled.
type step struct {
	ps        int
	cell, net string
}

// An edge is what a cell does to a wire after another has changed.
type edge struct {
	from bit
	ps   int
	cell string
}

// A stop is where a path ends; a start where it begins.
type stop struct {
	at    bit
	ps    int
	block string
	cell  string
	holds bit // what a register or RAM drives; -1: nothing
}

type start struct {
	ps          int
	block, cell string
}

type graph struct {
	edges  map[bit][]edge
	starts map[bit]start
	stops  []stop
	names  map[bit]string
	known  map[bit]int // when a wire is settled; -1: being looked at
	worst  map[bit]edge
}

func analyse(m *module, arcs map[string]*cellArcs, t *tree) ([]end, error) {
	g := &graph{map[bit][]edge{}, map[bit]start{}, nil, map[bit]string{}, map[bit]int{}, map[bit]edge{}}
	for _, name := range slices.Sorted(maps.Keys(m.Netnames)) {
		if n := m.Netnames[name]; n.Hide == 0 {
			for i, b := range n.Bits {
				g.names[b] = fmt.Sprintf("%s[%d]", name, i)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Ports)) {
		for _, b := range m.Ports[name].Bits {
			if m.Ports[name].Direction == "input" {
				g.starts[b] = start{0, "input", name}
			} else {
				g.stops = append(g.stops, stop{b, 0, "output", name, -1})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Cells)) {
		c := m.Cells[name]
		a := arcs[c.Type]
		if a == nil {
			return nil, fmt.Errorf("cell %s: the library has no %s", name, c.Type)
		}
		g.add(name, c, a, t)
	}
	return g.ends()
}

// add takes a cell's arcs. Clocks are left out: all registers have the same.
func (g *graph) add(name string, c *cell, a *cellArcs, t *tree) {
	src, _ := c.Attributes["src"].(string)
	block := t.ofSource(src)
	if ram(c.Type) || block == "" {
		block = t.ofName(name)
	}
	for _, x := range a.through {
		if from, ok := c.bit(x.from); ok {
			if to, ok := c.bit(x.to); ok && !strings.HasPrefix(c.Type, "BUFG") {
				g.edges[to] = append(g.edges[to], edge{from, x.ps + inFront(c.Type, x.from.port), c.Type})
			}
		}
	}
	holds := bit(-1)
	for _, x := range a.clocked {
		if q, ok := c.bit(x.to); ok && (holds < 0 || q < holds) {
			holds = q
		}
		if q, ok := c.bit(x.to); ok && g.starts[q].ps <= x.ps {
			g.starts[q] = start{x.ps, block, c.Type}
		}
	}
	for _, x := range a.setup {
		if from, ok := c.bit(x.from); ok {
			g.stops = append(g.stops, stop{from, x.ps + inFront(c.Type, x.from.port), block, c.Type + "." + x.from.port, holds})
		}
	}
}

func (c *cell) bit(p pin) (bit, bool) {
	if bits := c.Conns[p.port]; p.index < len(bits) && bits[p.index] >= 0 {
		return bits[p.index], true
	}
	return 0, false
}

func ram(cell string) bool { return strings.HasPrefix(cell, "RAM") }

func inFront(cell, port string) int {
	if ram(cell) || strings.HasPrefix(cell, "LUT") || port == "CE" || port == "R" || port == "S" && strings.HasPrefix(cell, "FD") {
		return wire
	}
	return 0
}

// at is when a wire is settled.
func (g *graph) at(b bit) (int, error) {
	if ps, ok := g.known[b]; ok {
		if ps < 0 {
			return 0, fmt.Errorf("%s: a loop without a register", g.names[b])
		}
		return ps, nil
	}
	g.known[b] = -1
	latest := g.starts[b].ps
	for _, w := range g.edges[b] {
		ps, err := g.at(w.from)
		if err != nil {
			return 0, err
		}
		if ps+w.ps > latest {
			latest, g.worst[b] = ps+w.ps, w
		}
	}
	g.known[b] = latest
	return latest, nil
}

func (g *graph) ends() ([]end, error) {
	worst, where := map[string]end{}, map[string]stop{}
	for _, s := range g.stops {
		ps, err := g.at(s.at)
		if err != nil {
			return nil, err
		}
		if ps += s.ps; ps > worst[s.block].ps {
			worst[s.block], where[s.block] = end{block: s.block, ps: ps}, s
		}
	}
	list := make([]end, 0, len(worst))
	for block, e := range worst {
		s := where[block]
		e.path = []step{{e.ps, s.cell, g.names[s.holds]}}
		b := s.at
		for w, ok := g.worst[b]; ok; w, ok = g.worst[b] {
			e.path = append(e.path, step{g.known[b], w.cell, g.names[b]})
			b = w.from
		}
		from := g.starts[b]
		e.from = from.block
		e.path = append(e.path, step{g.known[b], from.cell, g.names[b]})
		slices.Reverse(e.path)
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b end) int { return cmp.Compare(a.block, b.block) })
	return list, nil
}
