package main

import "slices"

// A powerUp finds registers that can never leave an unknown power-up value: without a reset or an
// initial value, and with a next value that depends on registers of this kind only in ways which
// keep the X.
type powerUp struct {
	*netlist
	defined map[bit]bool   // registers that can take a known value
	memory  map[*cell]bool // memories of which an entry can
	memo    map[bit]int8   // of a round: 1 can be known, -1 cannot
}

func checkPowerUp(n *netlist) []string {
	p := &powerUp{netlist: n, defined: map[bit]bool{}, memory: map[*cell]bool{}}
	for _, c := range n.cells {
		if c.register() && (c.Conns["SRST"] != nil || c.Conns["ARST"] != nil) {
			for _, q := range c.Conns["Q"] {
				p.defined[q] = true
			}
		}
		if c.memory() { // an initial content, or a port that writes known data
			p.memory[c] = false
		}
	}
	for b := range n.init {
		p.defined[b] = true
	}
	for grown := true; grown; {
		grown = false
		p.memo = map[bit]int8{}
		for _, c := range n.cells {
			switch {
			case c.register():
				for i, q := range c.Conns["Q"] {
					if !p.defined[q] && p.all(c.Conns["EN"]) && p.known(c.Conns["D"][i], q) {
						p.defined[q], grown = true, true
					}
				}
			case c.memory() && !p.memory[c]:
				if p.any(c.Conns["WR_DATA"]) && p.all(c.Conns["WR_ADDR"]) && p.any(c.Conns["WR_EN"]) {
					p.memory[c], grown = true, true
				}
			}
		}
	}
	var found []string
	for _, c := range n.cells {
		if c.register() {
			for _, q := range c.Conns["Q"] {
				if !p.defined[q] {
					found = append(found, stem(n.name(q))+": its power-up value is unknown and never leaves it: give it a reset or an initial value")
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (p *powerUp) all(bits []bit) bool {
	for _, b := range bits {
		if !p.known(b, undefined) {
			return false
		}
	}
	return true
}

func (p *powerUp) any(bits []bit) bool {
	return slices.ContainsFunc(bits, func(b bit) bool { return p.known(b, undefined) })
}

// known says that some input makes a wire 0 or 1 whatever registers hold that are not defined.
// self, the register's own output, is no such way: holding is not leaving.
func (p *powerUp) known(b, self bit) bool {
	if b == constant {
		return true
	}
	if b < 0 || b == self {
		return false
	}
	if _, ok := p.input[b]; ok {
		return true
	}
	d, ok := p.driver[b]
	switch {
	case !ok:
		return false
	case d.cell.border():
		return true
	case d.cell.register():
		return p.defined[b]
	case d.cell.memory():
		return p.memory[d.cell]
	}
	if m := p.memo[b]; m != 0 {
		return m > 0
	}
	p.memo[b] = -1
	result := p.through(d, self)
	if result {
		p.memo[b] = 1
	} else if self != undefined {
		delete(p.memo, b) // may be known to others
	}
	return result
}

func (p *powerUp) through(d pin, self bit) bool {
	c := d.cell
	at := func(port string) bit {
		bits := c.Conns[port]
		return bits[min(d.index, len(bits)-1)]
	}
	switch c.Type {
	case "$mux":
		return p.known(c.Conns["S"][0], self) && (p.known(at("A"), self) || p.known(at("B"), self))
	case "$and", "$or":
		return p.known(at("A"), self) || p.known(at("B"), self)
	case "$logic_and", "$logic_or", "$reduce_and", "$reduce_or", "$reduce_bool", "$logic_not":
		return p.any(c.Conns["A"]) || p.any(c.Conns["B"])
	case "$pmux":
		if !p.all(c.Conns["S"]) {
			return false
		}
		for _, b := range c.inputsOf(d.index) {
			if !slices.Contains(c.Conns["S"], b) && p.known(b, self) {
				return true
			}
		}
		return false
	}
	for _, b := range c.inputsOf(d.index) {
		if !p.known(b, self) {
			return false
		}
	}
	return true
}
