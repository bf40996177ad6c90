package design

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// A Port is one of the top module.
type Port struct {
	Name  string
	Input bool
	Width int // bits; 0: a type that the wrapper cannot connect
}

// netlist is the part of Verilator's XML that describes ports.
type netlist struct {
	Modules []struct {
		Top  string `xml:"topModule,attr"`
		Vars []struct {
			Name string `xml:"name,attr"`
			Dir  string `xml:"dir,attr"`
			Type string `xml:"dtype_id,attr"`
		} `xml:"var"`
	} `xml:"netlist>module"`
	Types struct {
		All []dataType `xml:",any"`
	} `xml:"netlist>typetable"`
}

type dataType struct {
	XMLName xml.Name
	ID      string `xml:"id,attr"`
	Sub     string `xml:"sub_dtype_id,attr"`
	Left    *int   `xml:"left,attr"`
	Right   *int   `xml:"right,attr"`
	Range   []struct {
		Value string `xml:"name,attr"`
	} `xml:"range>const"`
	Members []struct {
		Sub string `xml:"sub_dtype_id,attr"`
	} `xml:"memberdtype"`
}

// Ports elaborates the design with its parameters and lists the ports of its top module.
func (d *Description) Ports(ctx context.Context) ([]Port, error) {
	files, err := d.files()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nicloop-design-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "design.xml")
	args := []string{"--xml-only", "--xml-output", out, "-Mdir", dir, "--top-module", d.Top, "-Wno-fatal", "-Wno-lint", "-Wno-style"}
	args = append(append(args, d.flags()...), d.Verilator...)
	for _, name := range sortedKeys(d.Parameters) {
		args = append(args, "-G"+name+"="+d.Parameters[name])
	}
	for _, i := range d.Include {
		args = append(args, "-I"+d.path(i))
	}
	cmd := exec.CommandContext(ctx, "verilator", append(args, files...)...)
	said, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: verilator, needed to find the ports of %s, is not in PATH; apt-get install verilator", drivers.ErrEnvironment, d.Top)
	case err != nil:
		return nil, fmt.Errorf("%w: verilator cannot elaborate %s:\n%s", drivers.ErrConfig, d.Top, strings.TrimSpace(string(said)))
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return parsePorts(text)
}

// flags are the arguments of Verilator that do not depend on where files are.
func (d *Description) flags() (list []string) {
	for _, name := range sortedKeys(d.Defines) {
		list = append(list, strings.TrimSuffix("-D"+name+"="+d.Defines[name], "="))
	}
	return list
}

func parsePorts(text []byte) (list []Port, err error) {
	var n netlist
	if err := xml.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("XML of verilator: %w", err)
	}
	types := map[string]dataType{}
	for _, t := range n.Types.All {
		types[t.ID] = t
	}
	for _, m := range n.Modules {
		if m.Top == "" {
			continue
		}
		for _, v := range m.Vars {
			if v.Dir != "" {
				list = append(list, Port{v.Name, v.Dir == "input", widthOf(types, v.Type, 0)})
			}
		}
	}
	return list, nil
}

// widthOf is the number of bits of a type, 0 if it is not a vector.
func widthOf(types map[string]dataType, id string, depth int) int {
	t, known := types[id]
	if !known || depth > 16 {
		return 0
	}
	switch t.XMLName.Local {
	case "basicdtype":
		if t.Left == nil || t.Right == nil {
			return 1
		}
		return max(*t.Left, *t.Right) - min(*t.Left, *t.Right) + 1
	case "packarraydtype":
		var ends [2]int
		if len(t.Range) != 2 {
			return 0
		}
		for i, c := range t.Range {
			_, hex, _ := strings.Cut(c.Value, "h")
			if _, err := fmt.Sscanf(hex, "%x", &ends[i]); err != nil {
				return 0
			}
		}
		return (max(ends[0], ends[1]) - min(ends[0], ends[1]) + 1) * widthOf(types, t.Sub, depth+1)
	case "structdtype":
		sum := 0
		for _, m := range t.Members {
			sum += widthOf(types, m.Sub, depth+1)
		}
		return sum
	case "refdtype", "enumdtype", "memberdtype":
		return widthOf(types, t.Sub, depth+1)
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
