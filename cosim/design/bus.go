package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
)

// The signals of each kind of bus, by their standard names without prefix. Those after required are
// optional: the wrapper connects them if they exist.
type busKind struct {
	name     string
	required []string
	optional []string
}

var (
	liteBus = busKind{"AXI4-Lite",
		[]string{"awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "bvalid", "bready", "arvalid", "arready", "araddr", "rvalid", "rready", "rdata"},
		[]string{"awprot", "wstrb", "bresp", "arprot", "rresp"}}
	apbBus = busKind{"APB", []string{"psel", "penable", "paddr", "pwrite", "pwdata", "prdata"}, []string{"pready", "pslverr", "pstrb", "pprot"}}
	// dat_i and dat_o are seen from the design: it reads dat_i on a write.
	wishboneBus = busKind{"Wishbone", []string{"cyc", "stb", "we", "adr", "dat_i", "dat_o", "ack"}, []string{"sel", "err", "stall", "cti", "bte"}}
	memoryBus   = busKind{"AXI4",
		nil, // a master may have only one of the two directions
		[]string{"awid", "awaddr", "awlen", "awsize", "awburst", "awlock", "awcache", "awprot", "awqos", "awregion", "awuser", "awvalid", "awready",
			"wdata", "wstrb", "wlast", "wuser", "wvalid", "wready", "bid", "bresp", "buser", "bvalid", "bready",
			"arid", "araddr", "arlen", "arsize", "arburst", "arlock", "arcache", "arprot", "arqos", "arregion", "aruser", "arvalid", "arready",
			"rid", "rdata", "rresp", "rlast", "ruser", "rvalid", "rready"}}
	streamBus = busKind{"AXI-Stream", []string{"tvalid", "tdata"}, []string{"tready", "tkeep", "tstrb", "tlast", "tid", "tdest", "tuser"}}
)

// registerBus is the kind of the register bus with a prefix, by the signal that only it has.
func registerBus(prefix string, ports []Port) busKind {
	for _, kind := range []busKind{apbBus, wishboneBus} {
		if slices.ContainsFunc(ports, func(p Port) bool { return isSignal(p, prefix, kind.required[0]) }) {
			return kind
		}
	}
	return liteBus
}

// A bus is a group of ports: the port of each signal that exists.
type bus struct {
	prefix  string
	signals map[string]Port
}

func (b *bus) has(signal string) bool {
	_, ok := b.signals[signal]
	return ok
}

func (b *bus) width(signal string) int { return b.signals[signal].Width }

// findBus collects the ports of a bus. prefix may end with the separator or not, and a * in it
// stands for the name of the signal: "*_s0" has awvalid_s0. Capitals do not count.
func findBus(kind busKind, prefix string, ports []Port) (*bus, error) {
	b := &bus{prefix, map[string]Port{}}
	for _, signal := range slices.Concat(kind.required, kind.optional) {
		for _, p := range ports {
			if isSignal(p, prefix, signal) {
				b.signals[signal] = p
			}
		}
	}
	if len(b.signals) == 0 {
		return nil, fmt.Errorf("no port belongs to the %s bus %q%s", kind.name, prefix, suggest.Nearest(prefix, prefixes(ports)))
	}
	for _, signal := range kind.required {
		if !b.has(signal) {
			var names []string
			for _, p := range ports {
				names = append(names, p.Name)
			}
			name := spellings(prefix, signal)[0]
			return nil, fmt.Errorf("%s bus %q has no port %s%s", kind.name, prefix, name, suggest.Nearest(name, names))
		}
	}
	return b, nil
}

// isSignal reports whether a port is a signal of the bus with a prefix.
func isSignal(p Port, prefix, signal string) bool {
	return slices.ContainsFunc(spellings(prefix, signal), func(name string) bool { return strings.EqualFold(name, p.Name) })
}

func spellings(prefix, signal string) []string {
	if before, after, ok := strings.Cut(prefix, "*"); ok {
		return []string{before + signal + after}
	}
	return []string{prefix + "_" + signal, prefix + signal, prefix + "_" + signal + "_i", prefix + "_" + signal + "_o"}
}

// prefixes guesses the buses of a module by their valid signals.
func prefixes(ports []Port) (list []string) {
	for _, f := range findAll(ports) {
		list = append(list, f.prefix)
	}
	return list
}

// A found is a bus that was recognised by its valid signals.
type found struct {
	prefix string
	kind   string // lite, apb, wishbone, memory, out or in
}

// findAll recognises the buses of a module.
func findAll(ports []Port) (list []found) {
	lower := map[string]Port{}
	for _, p := range ports {
		lower[strings.ToLower(p.Name)] = p
	}
	seen := map[string]bool{}
	for _, p := range ports {
		name := strings.ToLower(p.Name)
		for _, valid := range []string{"awvalid", "arvalid", "tvalid", "psel", "cyc"} {
			before, after, ok := strings.Cut(name, valid)
			if !ok {
				continue
			}
			if !strings.HasSuffix(valid, "valid") && after != "" && after != "_i" {
				continue // cycles, cyc_count
			}
			prefix := strings.TrimSuffix(p.Name[:len(before)], "_")
			if after != "" && after != "_i" && after != "_o" {
				prefix = p.Name[:len(before)] + "*" + p.Name[len(before)+len(valid):]
			}
			if prefix == "" {
				prefix = "*" // the standard names alone
			}
			if seen[prefix] {
				continue
			}
			seen[prefix] = true
			_, bursts := lower[before+valid[:2]+"len"+after]
			switch {
			case valid == "psel" || valid == "cyc":
				if p.Input && p.Width == 1 {
					list = append(list, found{prefix, map[string]string{"psel": "apb", "cyc": "wishbone"}[valid]})
				}
			case valid == "tvalid" && p.Input:
				list = append(list, found{prefix, "in"})
			case valid == "tvalid":
				list = append(list, found{prefix, "out"})
			case p.Input && !bursts:
				list = append(list, found{prefix, "lite"})
			case !p.Input:
				list = append(list, found{prefix, "memory"})
			default:
				list = append(list, found{prefix, "slave"})
			}
		}
	}
	return list
}
