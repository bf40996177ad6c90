// Package design puts any hardware design behind the bridge: it reads the description of a design
// (a YAML file), finds the ports of its top module with Verilator, and writes the wrapper that
// connects them to the bus models of rtl/host.
package design

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/userfile"
)

// A Description says how a design is built and what its ports are. Paths are relative to its file.
type Description struct {
	Name       string            `yaml:"name"`
	Top        string            `yaml:"top"`
	Sources    []string          `yaml:"sources,omitempty"`
	Filelist   string            `yaml:"filelist,omitempty"`
	Include    []string          `yaml:"include,omitempty"`
	Defines    map[string]string `yaml:"defines,omitempty"`
	Parameters map[string]string `yaml:"parameters,omitempty"`
	Verilator  []string          `yaml:"verilator,omitempty"`
	Clocks     yaml.Node         `yaml:"clocks,omitempty"` // port: period; in order, the first counts cycles
	Resets     map[string]string `yaml:"resets,omitempty"` // port: high or low
	Registers  Registers         `yaml:"registers,omitempty"`
	Memory     Memory            `yaml:"memory,omitempty"`
	Interrupts map[string]string `yaml:"interrupts,omitempty"` // port: level or pulse
	Network    Network           `yaml:"network,omitempty"`
	Tie        map[string]string `yaml:"tie,omitempty"`  // input: value
	Open       []string          `yaml:"open,omitempty"` // outputs that stay unconnected
	Idle       string            `yaml:"idle,omitempty"` // never, or an output that is high at rest
	PCI        PCI               `yaml:"pci,omitempty"`
	Tests      string            `yaml:"tests,omitempty"` // folder of a Go package

	file   string
	clocks []clock
}

// Registers names the port for software (AXI4-Lite, APB or Wishbone) and the register map.
type Registers struct {
	Bus string `yaml:"bus,omitempty"`
	// Address is bytes, or words of a Wishbone port whose address counts those of its width.
	Address string `yaml:"address,omitempty"`
	Map     string `yaml:"map,omitempty"`
}

// Memory names the AXI4 masters; all of them see the same memory.
type Memory struct {
	Masters []string `yaml:"masters,omitempty"`
}

// Network names the AXI-Stream ports that connect the nodes.
type Network struct {
	Out   string `yaml:"out,omitempty"`
	In    string `yaml:"in,omitempty"`
	Links string `yaml:"links,omitempty"` // pairs or ring
	// Latency is the number of cycles that a word takes beyond one; FIFO the number of words that
	// the receiving side buffers, a power of two.
	Latency int `yaml:"latency,omitempty"`
	FIFO    int `yaml:"fifo,omitempty"`
}

const (
	defaultDepth = 64
	maxDepth     = 4096
	MaxLatency   = 64 // of cosim/dpi
)

func (n *Network) depth() int {
	if n.FIFO == 0 {
		return defaultDepth
	}
	return n.FIFO
}

type clock struct {
	port   string
	period time.Duration // in units of a picosecond, not of a nanosecond
}

const picosecond = time.Duration(1)

// Load reads a description.
func Load(name string) (*Description, error) {
	text, err := userfile.Read(name, userfile.TextLimit)
	if err != nil {
		return nil, fmt.Errorf("%w: description of a design: %w", drivers.ErrConfig, err)
	}
	d := &Description{file: name}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(d); err == nil {
		err = d.validate()
		if err == nil {
			return d, nil
		}
		return nil, fmt.Errorf("%w: %s: %w", drivers.ErrConfig, name, err)
	} else {
		return nil, fmt.Errorf("%w: %s: %w", drivers.ErrConfig, name, err)
	}
}

func (d *Description) validate() error {
	if d.Top == "" {
		return fmt.Errorf("top: expected the name of the top module")
	}
	if d.Name == "" {
		d.Name = d.Top
	}
	if len(d.Sources) == 0 && d.Filelist == "" {
		return fmt.Errorf("sources: expected the files of the design, or filelist")
	}
	if d.Registers.Bus == "" {
		return fmt.Errorf("registers: bus: expected the prefix of an AXI4-Lite, APB or Wishbone port, such as s_axil")
	}
	if !slices.Contains([]string{"", "bytes", "words"}, d.Registers.Address) {
		return fmt.Errorf("registers: address: %q: expected bytes or words", d.Registers.Address)
	}
	for port, kind := range d.Resets {
		if kind != "high" && kind != "low" {
			return fmt.Errorf("resets: %s: %q: expected high or low", port, kind)
		}
	}
	for port, kind := range d.Interrupts {
		if kind != "level" && kind != "pulse" {
			return fmt.Errorf("interrupts: %s: %q: expected level or pulse; a vector is a port of several bits", port, kind)
		}
	}
	if !slices.Contains([]string{"", "pairs", "ring"}, d.Network.Links) {
		return fmt.Errorf("network: links: %q: expected pairs or ring", d.Network.Links)
	}
	if (d.Network.Out == "") != (d.Network.In == "") {
		return fmt.Errorf("network: expected both out and in")
	}
	if n := d.Network.FIFO; n != 0 && (n < 2 || n > maxDepth || n&(n-1) != 0) {
		return fmt.Errorf("network: fifo: %d: expected a power of two from 2 to %d", n, maxDepth)
	}
	if n := d.Network.Latency; n < 0 || n > MaxLatency {
		return fmt.Errorf("network: latency: %d: expected 0 to %d cycles", n, MaxLatency)
	}
	if err := d.PCI.validate(); err != nil {
		return err
	}
	return d.readClocks()
}

func (d *Description) readClocks() error {
	n := &d.Clocks
	for i := 0; i+1 < len(n.Content); i += 2 {
		port, text := n.Content[i].Value, n.Content[i+1].Value
		ps, err := parsePeriod(text)
		if err != nil {
			return fmt.Errorf("clocks: %s: %w", port, err)
		}
		d.clocks = append(d.clocks, clock{port, ps})
	}
	if len(d.clocks) == 0 {
		return fmt.Errorf("clocks: expected at least one, such as {clk: 4ns}")
	}
	for _, c := range d.clocks[1:] {
		if c.period < d.clocks[0].period {
			return fmt.Errorf("clocks: %s is faster than %s: expected the fastest clock first", c.port, d.clocks[0].port)
		}
	}
	return nil
}

// parsePeriod reads 4ns, 6.4ns or 625ps.
func parsePeriod(text string) (time.Duration, error) {
	// Not Sscanf: it takes the p of ps for an exponent.
	unit := strings.TrimLeft(text, "0123456789. ")
	value, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, unit)), 64)
	if err != nil || unit == "" {
		return 0, fmt.Errorf("period %q: expected a number with ps, ns or us, such as 4ns", text)
	}
	factor, ok := map[string]float64{"ps": 1, "ns": 1e3, "us": 1e6}[unit]
	ps := math.Round(value * factor)
	if !ok || ps < 2 || ps > 1e9 {
		return 0, fmt.Errorf("period %q: expected 2ps to 1000us", text)
	}
	return time.Duration(ps) * picosecond, nil
}

// ClockPS is the period of the first clock in picoseconds.
func (d *Description) ClockPS() int { return int(d.clocks[0].period / picosecond) }

// path finds a file that the description names.
func (d *Description) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(filepath.Dir(d.file), name)
}

// files lists the sources, with patterns expanded, by their path.
func (d *Description) files() (list []string, err error) {
	patterns := slices.Clone(d.Sources)
	if d.Filelist != "" {
		text, err := userfile.Read(d.path(d.Filelist), userfile.TextLimit)
		if err != nil {
			return nil, fmt.Errorf("%w: filelist: %w", drivers.ErrConfig, err)
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "//")
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				patterns = append(patterns, filepath.Join(filepath.Dir(d.Filelist), line))
			}
		}
	}
	for _, p := range patterns {
		names, err := filepath.Glob(d.path(p))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("%w: %s: sources: no file matches %s", drivers.ErrConfig, d.file, d.path(p))
		}
		for _, name := range names {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list, nil
}

// Registers of the simulation itself, beside those of the design: see rtl/host/irq_host.sv.
const (
	SimIRQLevel = 0x7ffff000
	SimIRQPulse = 0x7ffff008
)

// Map is the register map of the design, with the registers of the simulation at its end.
func (d *Description) Map() (*regmap.Map, error) {
	m := regmap.New(d.Name, 0, nil)
	if d.Registers.Map != "" {
		var err error
		if m, err = regmap.Load(d.path(d.Registers.Map)); err != nil {
			return nil, fmt.Errorf("%w: %s: registers: %w", drivers.ErrConfig, d.file, err)
		}
	}
	return regmap.New(m.Name, m.Hash, append(slices.Clone(m.Registers()),
		regmap.Register{Name: "SIM_IRQ_LEVEL", Offset: SimIRQLevel, Count: 1, Access: regmap.RO, Doc: "interrupt inputs of the simulation now"},
		regmap.Register{Name: "SIM_IRQ_PULSE", Offset: SimIRQPulse, Count: 1, Access: regmap.W1C, Doc: "interrupt pulses since they were cleared"})), nil
}
