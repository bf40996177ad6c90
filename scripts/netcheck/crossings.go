package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A source is where a combinational path begins: a register, a memory, a port of a border, or an
// input.
type source struct {
	bit   bit
	clock bit // of an input 0
	input string
	many  bool // it stands for several registers of its clock
}

// A crossings checks that what passes from one clock domain to another does so through a
// synchroniser.
type crossings struct {
	*netlist
	rules []rule
	used  []bool
	memo  map[bit][]source
	found []string
	safe  int                            // crossings through synchronisers
	users map[string]map[bit]source      // of an input: a source per domain that uses it without a synchroniser
	wide  map[string]map[string]struct{} // first stages of one register by its source: more than one bit
}

func checkCrossings(n *netlist, rules []rule) *crossings {
	c := &crossings{netlist: n, rules: rules, used: make([]bool, len(rules)), memo: map[bit][]source{},
		users: map[string]map[bit]source{}, wide: map[string]map[string]struct{}{}}
	for _, cell := range n.cells {
		switch {
		case cell.register():
			c.register(cell)
		case cell.memory():
			clocks := cell.Conns["WR_CLK"]
			for _, p := range []string{"WR_ADDR", "WR_DATA", "WR_EN"} {
				for i, b := range cell.Conns[p] {
					c.arrive(b, clocks[i*len(clocks)/len(cell.Conns[p])], n.name(cell.Conns["RD_DATA"][0]))
				}
			}
		case cell.border() && cell.clock() != undefined: // what enters a vendor's cell is the vendor's matter
			for p, bits := range cell.Conns {
				if cell.Directions[p] == "input" && !strings.HasPrefix(p, "clk") {
					for _, b := range bits {
						c.arrive(b, cell.clock(), strings.TrimPrefix(cell.name, "\\")+"."+p)
					}
				}
			}
		}
	}
	for name, domains := range c.users {
		if len(domains) > 1 {
			c.report("input "+name, strings.Join(c.clocksOf(domains), " and "), "is used in several clock domains")
		}
	}
	for name, p := range n.Ports {
		if p.Direction != "output" {
			continue
		}
		domains := map[bit]source{}
		for _, b := range p.Bits {
			for _, s := range c.sources(b) {
				if s.clock != 0 {
					domains[s.clock] = s
				}
			}
		}
		if len(domains) > 1 {
			c.report(strings.Join(c.clocksOf(domains), " and "), "output "+name, "depends on several clock domains")
		}
	}
	for register, bits := range c.wide {
		if len(bits) > 1 {
			for from := range bits {
				c.report(from, register, fmt.Sprintf("%d bits cross together: they need a code of which one bit changes at a time", len(bits)))
			}
		}
	}
	slices.Sort(c.found)
	c.found = slices.Compact(c.found)
	return c
}

// vendor is a primitive of a device, e.g. a transceiver. Its outputs count as inputs of the design.
func (c *cell) vendor() bool { return c.border() && c.clock() == undefined }

func (c *cell) pin(p pin) string { return strings.TrimPrefix(c.name, "\\") + "." + p.port }

func (c *cell) clock() bit {
	for _, p := range []string{"CLK", "clk"} {
		if b := c.Conns[p]; len(b) == 1 {
			return b[0]
		}
	}
	return undefined
}

func (c *crossings) clocksOf(domains map[bit]source) (names []string) {
	for b := range domains {
		names = append(names, c.name(b))
	}
	slices.Sort(names)
	return names
}

// stem is a name without its index, so that the bits of a register are one.
func stem(name string) string {
	name, rest, _ := strings.Cut(name, "[")
	if _, others, ok := strings.Cut(rest, "] "); ok {
		name += " " + others
	}
	return name
}

// report notes a crossing, unless a rule allows it.
func (c *crossings) report(from, to, why string) {
	from, to = stem(from), stem(to)
	for i, r := range c.rules {
		if matches(r.from, from) && matches(r.to, to) {
			c.used[i] = true
			return
		}
	}
	c.found = append(c.found, fmt.Sprintf("%s -> %s: %s", from, to, why))
}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// sources lists where the combinational paths to a wire begin: one register of each clock stands
// for all.
func (c *crossings) sources(b bit) []source {
	if list, known := c.memo[b]; known {
		return list
	}
	c.memo[b] = nil // a combinational loop ends here
	var list []source
	for _, s := range c.begin(b) {
		same := func(t source) bool { return t.clock == s.clock && t.input == s.input }
		if at := slices.IndexFunc(list, same); at < 0 {
			list = append(list, s)
		} else if list[at].bit != s.bit && s.input == "" {
			list[at].many = true
		}
	}
	c.memo[b] = list
	return list
}

func (c *crossings) begin(b bit) (list []source) {
	if b < 0 {
		return nil
	}
	if name, ok := c.input[b]; ok {
		return []source{{bit: b, input: name}}
	}
	d, ok := c.driver[b]
	switch {
	case !ok:
		return nil
	case d.cell.vendor():
		return []source{{bit: b, input: d.cell.pin(d)}}
	case d.cell.register() || d.cell.border():
		return []source{{bit: b, clock: d.cell.clock()}}
	case d.cell.memory():
		if clocks := d.cell.Conns["WR_CLK"]; len(clocks) > 0 {
			list = append(list, source{bit: d.cell.Conns["RD_DATA"][0], clock: clocks[0]}) // its name is the memory's, see index
		}
		for _, a := range d.cell.Conns["RD_ADDR"] {
			list = append(list, c.sources(a)...)
		}
		return list
	}
	for _, a := range d.cell.inputsOf(d.index) {
		list = append(list, c.sources(a)...)
	}
	return list
}

// arrive checks that what a wire depends on is of the clock domain in which it is used.
func (c *crossings) arrive(b, clock bit, to string) {
	for _, s := range c.sources(b) {
		switch {
		case s.input != "":
			if c.users[s.input] == nil {
				c.users[s.input] = map[bit]source{}
			}
			c.users[s.input][clock] = s
		case s.clock != clock:
			from := c.name(s.bit)
			if s.many {
				from += " and others" // which no rule allows
			}
			c.report(from, to, fmt.Sprintf("from %s to %s without a synchroniser", c.name(s.clock), c.name(clock)))
		}
	}
}

func (c *crossings) register(r *cell) {
	clock := r.clock()
	for _, p := range []string{"EN", "SRST", "ALOAD", "AD"} {
		for _, b := range r.Conns[p] {
			c.arrive(b, clock, c.name(r.Conns["Q"][0]))
		}
	}
	for _, b := range r.Conns["ARST"] {
		c.asynchronousReset(r, b)
	}
	for i, d := range r.Conns["D"] {
		q := r.Conns["Q"][i]
		from, direct := c.single(d)
		foreign := direct && from.input == "" && from.clock != clock
		if direct && (foreign || from.input != "") && c.firstStage(r, q) {
			if foreign {
				c.safe++
				to := stem(c.name(q))
				if c.wide[to] == nil {
					c.wide[to] = map[string]struct{}{}
				}
				c.wide[to][c.name(from.bit)] = struct{}{}
			}
			continue
		}
		if foreign && c.isChain(q) {
			c.report(c.name(from.bit), c.name(q), fmt.Sprintf("from %s to %s through one register", c.name(from.clock), c.name(clock)))
			continue
		}
		c.arrive(d, clock, c.name(q))
	}
}

// single gives the one register or input that a wire shows, inverted or not: nothing in front of a
// synchroniser may glitch.
func (c *crossings) single(b bit) (source, bool) {
	for {
		if name, ok := c.input[b]; ok {
			return source{bit: b, input: name}, true
		}
		d, ok := c.driver[b]
		switch {
		case !ok:
			return source{}, false
		case d.cell.vendor():
			return source{bit: b, input: d.cell.pin(d)}, true
		case d.cell.register() || d.cell.border():
			return source{bit: b, clock: d.cell.clock()}, true
		case d.cell.Type == "$not" || d.cell.Type == "$logic_not" && len(d.cell.Conns["A"]) == 1:
			b = d.cell.Conns["A"][min(d.index, len(d.cell.Conns["A"])-1)]
		default:
			return source{}, false
		}
	}
}

// firstStage says that a register takes its input in every cycle and that nothing uses it but the
// input of one further register of the same clock: two in a row. Two second stages could see
// different values.
func (c *crossings) firstStage(r *cell, q bit) bool {
	return r.Conns["EN"] == nil && !c.isOutput(q) && c.isChain(q)
}

func (c *crossings) isOutput(q bit) bool { _, ok := c.output[q]; return ok }

func (c *crossings) isChain(q bit) bool {
	loads := c.loads[q]
	first := c.driver[q].cell
	for _, l := range loads {
		if !l.cell.register() || l.port != "D" || l.cell.clock() != first.clock() || l.cell.Conns["EN"] != nil {
			return false
		}
	}
	return len(loads) == 1
}

// asynchronousReset: it comes from a register of the same clock, or the register is part of a chain
// that ends it with an edge.
func (c *crossings) asynchronousReset(r *cell, reset bit) {
	from, direct := c.single(reset)
	if direct && from.input == "" && from.clock == r.clock() {
		return
	}
	q := r.Conns["Q"][0]
	if !direct {
		c.report(c.name(reset), c.name(q), "logic in front of an asynchronous reset may glitch")
		return
	}
	inChain := func(b bit) bool { d := c.driver[b]; return d.cell == r }
	fed := 0
	for _, d := range r.Conns["D"] {
		if d == constant {
			fed++
		} else if !inChain(d) {
			fed = -1
			break
		}
	}
	if fed == 1 && len(r.Conns["D"]) > 1 {
		c.safe++
		return
	}
	c.report(c.name(reset), c.name(q), "asynchronous reset ends without regard to "+c.name(r.clock()))
}
