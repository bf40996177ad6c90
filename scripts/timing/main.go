// Command timing finds the slowest path into every block of a design that yosys has mapped to
// cells.
//
//	go run ./scripts/timing [-paths N] [-top nic_core] cells.json library.json tree.json
//
// cells is the flattened netlist, library the cells with their specify blocks, tree the design
// before it was flattened, which tells what block an instance is. A path runs from a register, LUT
// RAM or input of the design to a register, LUT RAM or output, through as many blocks as it may,
// and counts for the block in which it ends. Each LUT and each pin of a RAM or clock enable has a
// wire of 300 ps in front of it, as abc9 of yosys assumes for the 7-series; carries and wide
// multiplexers sit beside the LUTs that feed them. It is an estimate from before routing.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	paths := flag.Int("paths", 0, "show the slowest path into each of so many blocks, cell by cell")
	top := flag.String("top", "nic_core", "top module")
	flag.Parse()
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "usage: timing [-paths N] [-top MODULE] cells.json library.json tree.json")
		os.Exit(2)
	}
	if err := run(*top, *paths, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "timing:", err)
		os.Exit(1)
	}
}

func run(top string, paths int, files []string, w io.Writer) error {
	var designs [3]design
	for i, name := range files {
		if err := designs[i].read(name); err != nil {
			return err
		}
	}
	flat, ok := designs[0].Modules[top]
	if !ok {
		return fmt.Errorf("%s: no module %s", files[0], top)
	}
	ends, err := analyse(flat, arcsOf(&designs[1]), newTree(&designs[2], top))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, e := range ends {
		fmt.Fprintf(out, "%s %d %s\n", e.block, e.ps, e.from)
	}
	slices.SortStableFunc(ends, func(a, b end) int { return b.ps - a.ps })
	for _, e := range ends[:min(paths, len(ends))] {
		fmt.Fprintf(out, "\n%s, %.2f ns\n", e.block, float64(e.ps)/1000)
		for _, s := range e.path {
			fmt.Fprintf(out, "  %6d  %-40s %s\n", s.ps, s.cell, s.net)
		}
	}
	return out.Flush()
}

// A tree tells which block an instance is, and how deep a block lies.
type tree struct {
	d     *design
	top   string
	depth map[string]int
}

func newTree(d *design, top string) *tree {
	t := &tree{d, top, map[string]int{}}
	t.descend(top, 1)
	return t
}

func (t *tree) descend(name string, depth int) {
	m := t.d.Modules[name]
	if m == nil {
		return
	}
	t.depth[plain(name)] = max(t.depth[plain(name)], depth)
	for _, c := range m.Cells {
		t.descend(c.Type, depth+1)
	}
}

// ofName is the block of the deepest instance that a name of the flattened design begins with.
func (t *tree) ofName(name string) string {
	at := t.top
	for {
		m := t.d.Modules[at]
		next := ""
		// Names of instances contain points where they stand in generate blocks: the longest wins.
		for i := 1; i < len(name); i++ {
			if name[i] == '.' {
				if c := m.Cells[name[:i]]; c != nil && t.d.Modules[c.Type] != nil {
					next = name[:i]
				}
			}
		}
		if next == "" {
			return plain(at)
		}
		at, name = m.Cells[next].Type, name[len(next)+1:]
	}
}

// ofSource is the deepest block in a cell's src attribute, which names the lines of the instances
// above it as well.
func (t *tree) ofSource(src string) (block string) {
	for _, line := range strings.Split(src, "|") {
		file, _, _ := strings.Cut(path.Base(line), ".sv:")
		if t.depth[file] > t.depth[block] {
			block = file
		}
	}
	return block
}

// plain is a module's name as it stands in its source.
func plain(module string) string {
	parts := strings.Split(strings.TrimPrefix(module, `\`), `\`)
	if len(parts) > 1 && strings.HasPrefix(parts[0], "$paramod") {
		return parts[1]
	}
	return parts[0]
}
