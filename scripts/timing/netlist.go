package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// A design is what write_json of yosys writes.
type design struct {
	Modules map[string]*module `json:"modules"`
}

type module struct {
	Ports    map[string]port  `json:"ports"`
	Cells    map[string]*cell `json:"cells"`
	Netnames map[string]net   `json:"netnames"`
}

type port struct {
	Direction string `json:"direction"`
	Bits      []bit  `json:"bits"`
}

type cell struct {
	Type       string            `json:"type"`
	Parameters map[string]any    `json:"parameters"`
	Attributes map[string]any    `json:"attributes"`
	Conns      map[string][]bit  `json:"connections"`
	Directions map[string]string `json:"port_directions"`
}

type net struct {
	Bits []bit `json:"bits"`
	Hide int   `json:"hide_name"`
}

// A bit is the number of a wire, or a constant, which is below 0.
type bit int

func (b *bit) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		*b = -1
		return nil
	}
	n, err := strconv.Atoi(string(text))
	*b = bit(n)
	return err
}

func (d *design) read(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// A pin is one bit of a cell's port.
type pin struct {
	port  string
	index int
}

// An arc is a way through a cell. To a register's pin it is the set-up time, from its clock the
// delay to its output.
type arc struct {
	from, to pin
	ps       int
}

// A cellArcs is what is known of a type of cell.
type cellArcs struct {
	through, clocked []arc // from inputs; from the clock, whose pin is left out
	setup            []arc // to the clock
}

func arcsOf(library *design) map[string]*cellArcs {
	all := map[string]*cellArcs{}
	for name, m := range library.Modules {
		a := &cellArcs{}
		where := map[bit]pin{}
		for p, of := range m.Ports {
			for i, b := range of.Bits {
				where[b] = pin{p, i}
			}
		}
		for _, c := range m.Cells {
			a.add(c, where)
		}
		all[name] = a
	}
	return all
}

func (a *cellArcs) add(c *cell, where map[bit]pin) {
	arcs := func(from, to string, ps int) (list []arc) {
		for i, s := range c.Conns[from] {
			for j, d := range c.Conns[to] {
				sp, ok1 := where[s]
				dp, ok2 := where[d]
				if ok1 && ok2 && (i == j || len(c.Conns[from]) != len(c.Conns[to]) || number(c.Parameters["FULL"]) == 1) {
					list = append(list, arc{sp, dp, ps})
				}
			}
		}
		return list
	}
	switch c.Type {
	case "$specify2":
		a.through = append(a.through, arcs("SRC", "DST", number(c.Parameters["T_RISE_MAX"]))...)
	case "$specify3": // from an edge
		a.clocked = append(a.clocked, arcs("SRC", "DST", number(c.Parameters["T_RISE_MAX"]))...)
	case "$specrule":
		if c.Parameters["TYPE"] == "$setup" {
			a.setup = append(a.setup, arcs("SRC", "DST", number(c.Parameters["T_LIMIT_MAX"]))...)
		}
	}
}

// number is a parameter of yosys, written in binary.
func number(v any) int {
	text, _ := v.(string)
	n, _ := strconv.ParseInt(text, 2, 64)
	return int(n)
}
