package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A bit is the number of a wire, or one of the constants below.
type bit int

const (
	constant  bit = -1
	undefined bit = -2 // x or z
)

func (b *bit) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"0"`, `"1"`:
		*b = constant
		return nil
	case `"x"`, `"z"`:
		*b = undefined
		return nil
	}
	n, err := strconv.Atoi(string(text))
	*b = bit(n)
	return err
}

type cell struct {
	name       string
	Type       string            `json:"type"`
	Parameters map[string]any    `json:"parameters"`
	Conns      map[string][]bit  `json:"connections"`
	Directions map[string]string `json:"port_directions"`
}

type port struct {
	Direction string `json:"direction"`
	Bits      []bit  `json:"bits"`
}

// A netlist is the flattened module that yosys wrote, with an index from each wire to the cell that
// drives it.
type netlist struct {
	Ports    map[string]port  `json:"ports"`
	Cells    map[string]*cell `json:"cells"`
	Netnames map[string]struct {
		Bits       []bit          `json:"bits"`
		Hide       int            `json:"hide_name"`
		Attributes map[string]any `json:"attributes"`
	} `json:"netnames"`

	cells  []*cell // by name
	driver map[bit]pin
	loads  map[bit][]pin
	input  map[bit]string
	output map[bit]string
	names  map[bit]string
	init   map[bit]bool
}

// A pin is one bit of a cell's port.
type pin struct {
	cell  *cell
	port  string
	index int
}

func readNetlist(file, top string) (*netlist, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var design struct {
		Modules map[string]*netlist `json:"modules"`
	}
	if err := json.Unmarshal(text, &design); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	n := design.Modules[top]
	if n == nil {
		return nil, fmt.Errorf("%s: no module %s", file, top)
	}
	n.index()
	return n, nil
}

func (n *netlist) index() {
	n.driver, n.loads = map[bit]pin{}, map[bit][]pin{}
	n.input, n.output, n.names, n.init = map[bit]string{}, map[bit]string{}, map[bit]string{}, map[bit]bool{}
	for name, c := range n.Cells {
		c.name = name
		n.cells = append(n.cells, c)
	}
	slices.SortFunc(n.cells, func(a, b *cell) int { return strings.Compare(a.name, b.name) })
	for _, c := range n.cells {
		for p, bits := range c.Conns {
			for i, b := range bits {
				if c.Directions[p] == "output" {
					n.driver[b] = pin{c, p, i}
				} else {
					n.loads[b] = append(n.loads[b], pin{c, p, i})
				}
			}
		}
	}
	for name, p := range n.Ports {
		for _, b := range p.Bits {
			if p.Direction == "input" {
				n.input[b] = name
			} else {
				n.output[b] = name
			}
		}
	}
	defer n.nameMemories()
	for name, net := range n.Netnames {
		values, _ := net.Attributes["init"].(string) // most significant bit first
		for i, b := range net.Bits {
			if at := len(values) - 1 - i; at >= 0 && values[at] != 'x' {
				n.init[b] = true
			}
			if net.Hide != 0 {
				continue
			}
			shown := name
			if len(net.Bits) > 1 {
				shown = fmt.Sprintf("%s[%d]", name, i)
			}
			// Of several names of a wire the shortest path is the driver's or an outer module's.
			if old := n.names[b]; old == "" || len(shown) < len(old) || len(shown) == len(old) && shown < old {
				n.names[b] = shown
			}
		}
	}
}

// nameMemories names what is read of a memory after it.
func (n *netlist) nameMemories() {
	for _, c := range n.cells {
		id, _ := c.Parameters["MEMID"].(string)
		if c.memory() && id != "" {
			for _, b := range c.Conns["RD_DATA"] {
				n.names[b] = strings.ReplaceAll(id, "\\", "")
			}
		}
	}
}

func (n *netlist) name(b bit) string {
	if name := n.names[b]; name != "" {
		return name
	}
	return fmt.Sprintf("wire %d", b)
}

func (c *cell) register() bool {
	return strings.Contains(c.Type, "dff") || c.Type == "$ff" || strings.Contains(c.Type, "dlatch")
}

func (c *cell) memory() bool { return c.Type == "$mem_v2" }

// border is a module that only its ports are known of (nic_core).
func (c *cell) border() bool { return !strings.HasPrefix(c.Type, "$") }

// bitwise says that bit i of the output depends on bit i of inputs A and B alone.
func (c *cell) bitwise() bool {
	switch c.Type {
	case "$not", "$and", "$or", "$xor", "$xnor", "$mux", "$bwmux", "$pos":
		return true
	}
	return false
}

// inputsOf lists the wires that bit i of an output of a combinational cell depends on.
func (c *cell) inputsOf(i int) []bit {
	var list []bit
	width := 0
	for p, bits := range c.Conns {
		if c.Directions[p] == "output" {
			width = len(bits)
		}
	}
	for p, bits := range c.Conns {
		switch {
		case c.Directions[p] == "output":
		case p == "S" && c.Type != "$bwmux":
			list = append(list, bits...)
		case c.bitwise():
			if len(bits) > 0 { // a shorter operand is extended by its last bit or by 0
				list = append(list, bits[min(i, len(bits)-1)])
			}
		case c.Type == "$pmux" && p == "B":
			for at := i; at < len(bits); at += width {
				list = append(list, bits[at])
			}
		case c.Type == "$pmux":
			list = append(list, bits[i])
		default:
			list = append(list, bits...)
		}
	}
	return list
}
