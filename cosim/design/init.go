package design

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	clockName = regexp.MustCompile(`(?i)(^|_)[ahp]?(clk|clock)(_i)?$|^[ahp]?(clk|clock)_`)
	resetName = regexp.MustCompile(`(?i)(^|_)[ahp]?(rst|reset)(_?n)?(_i)?$`)
	lowName   = regexp.MustCompile(`(?i)n(_i)?$`)
	irqName   = regexp.MustCompile(`(?i)(^|_)(irq|intr?|interrupt|msi)s?(_|$|\d)`)
)

// Init writes the description of a design from the ports of its top module. file is where it will
// be, from which the paths of sources count. Inputs that it does not recognise are tied to 0.
func Init(ctx context.Context, file, top string, sources, include []string) (string, error) {
	d := &Description{file: file, Name: top, Top: top}
	for _, s := range sources {
		d.Sources = append(d.Sources, d.relative(s))
	}
	for _, i := range include {
		d.Include = append(d.Include, d.relative(i))
	}
	ports, err := d.Ports(ctx)
	if err != nil {
		return "", err
	}
	return d.describe(ports), nil
}

// relative is a path as the description has it.
func (d *Description) relative(name string) string {
	abs, err1 := filepath.Abs(name)
	dir, err2 := filepath.Abs(filepath.Dir(d.file))
	rel, err3 := filepath.Rel(dir, abs)
	if err1 != nil || err2 != nil || err3 != nil {
		return name
	}
	return rel
}

// A describer writes the YAML of a description line by line.
type describer struct {
	text  strings.Builder
	ports []Port
	used  map[string]bool
}

func (w *describer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

func (d *Description) describe(ports []Port) string {
	w := &describer{ports: ports, used: map[string]bool{}}
	w.line("# Written by nicloop design init from the ports of %s; see docs/your-own-rtl.md.", d.Top)
	w.line("name: %s\ntop: %s\nsources: [%s]", d.Name, d.Top, strings.Join(d.Sources, ", "))
	if len(d.Include) > 0 {
		w.line("include: [%s]", strings.Join(d.Include, ", "))
	}
	w.single()
	w.buses()
	var ties []string
	for _, p := range ports {
		if p.Input && !w.used[p.Name] {
			ties = append(ties, p.Name+": 0")
		}
	}
	if slices.Sort(ties); len(ties) > 0 {
		w.line("tie: {%s}", strings.Join(ties, ", "))
	}
	w.line("idle: never")
	return w.text.String()
}

// single describes clocks, resets and interrupts.
func (w *describer) single() {
	var clocks, resets, irqs []string
	for _, p := range w.ports {
		switch {
		case p.Input && p.Width == 1 && clockName.MatchString(p.Name):
			clocks = append(clocks, p.Name+": 4ns")
		case p.Input && p.Width == 1 && resetName.MatchString(p.Name):
			level := "high"
			if lowName.MatchString(p.Name) {
				level = "low"
			}
			resets = append(resets, p.Name+": "+level)
		case !p.Input && irqName.MatchString(p.Name):
			irqs = append(irqs, p.Name+": level")
		default:
			continue
		}
		w.used[p.Name] = true
	}
	w.line("clocks: {%s}  # check the periods; the first clock is the fastest, and counts cycles", strings.Join(clocks, ", "))
	w.line("resets: {%s}", strings.Join(resets, ", "))
	if len(irqs) > 0 {
		w.line("interrupts: {%s}  # level or pulse", strings.Join(irqs, ", "))
	}
}

// buses describes the ports that belong to buses.
func (w *describer) buses() {
	prefixes := map[string][]string{}
	kinds := map[string]busKind{"lite": liteBus, "apb": apbBus, "wishbone": wishboneBus, "memory": memoryBus, "in": streamBus, "out": streamBus}
	for _, f := range findAll(w.ports) {
		kind, supported := kinds[f.kind]
		if !supported {
			w.line("# %s is an AXI4 slave with bursts, which is not supported", f.prefix)
			continue
		}
		if f.kind != "memory" && len(prefixes[f.kind]) > 0 {
			w.line("# %s is a further bus of its kind; only one is connected", f.prefix)
			continue
		}
		b, err := findBus(kind, f.prefix, w.ports)
		if err != nil {
			w.line("# %v", err)
			continue
		}
		for _, p := range b.signals {
			w.used[p.Name] = true
		}
		prefix := f.prefix
		if strings.Contains(prefix, "*") {
			prefix = `"` + prefix + `"`
		}
		prefixes[f.kind] = append(prefixes[f.kind], prefix)
	}
	if lite := slices.Concat(prefixes["lite"], prefixes["apb"], prefixes["wishbone"]); lite != nil {
		w.line("registers: {bus: %s}  # map: registers.yaml (or SVD, IP-XACT) gives them names", lite[0])
	}
	if masters := prefixes["memory"]; masters != nil {
		w.line("memory: {masters: [%s]}", strings.Join(masters, ", "))
	}
	if in, out := prefixes["in"], prefixes["out"]; in != nil && out != nil {
		w.line("network: {out: %s, in: %s, links: pairs}", out[0], in[0])
	}
}
