package main

import (
	"fmt"
	"regexp"
	"strings"
)

// observedWith names, by block, outputs that mean something only while another port is high, where
// the names do not show it. Of a vector one bit is enough.
var observedWith = map[string]string{
	"atu":            "error:done addr:done fault:ev_fault",
	"crc32_sender":   "crc:tail",
	"dma_read":       "done_tag:done error:done",
	"dma_write":      "done_tag:done error:done",
	"rma_collect":    "reason:have header:have vpid:have kind:have ext:have stamp:have vpid_next:waits stamp_next:waits",
	"rma_completer":  "drop_reason:ev_drop stranger_header:ev_stranger stranger_pdid:ev_stranger",
	"rma_responder":  "drop_reason:ev_drop stranger_header:ev_stranger stranger_pdid:ev_stranger",
	"velo_completer": "drop_reason:ev_drop pdid:ev_stranger slot_header:commit ended_bad:ended ended_vpid:ended ended_seq:ended",
}

// A port of a flattened design.
type port struct {
	name, width string
	output      bool
}

var portLine = regexp.MustCompile(`(?m)^  wire (?:width (\d+) )?(input|output) \d+ \\(\w+)$`)

// portsOf reads the ports from RTLIL.
func portsOf(rtlil string) (all []port) {
	for _, m := range portLine.FindAllStringSubmatch(rtlil, -1) {
		p := port{name: m[3], width: m[1], output: m[2] == "output"}
		if p.width == "" {
			p.width = "1"
		}
		all = append(all, p)
	}
	return all
}

// gateOf returns the port with which an output is looked at, or "": for x_addr that is x_valid, and
// for m_araddr m_arvalid. A ready is looked at in every cycle.
func (b *block) gateOf(output string, ports []port) string {
	for _, pair := range strings.Fields(observedWith[b.name]) {
		if name, gate, _ := strings.Cut(pair, ":"); name == output {
			return gate
		}
	}
	longest := ""
	for _, p := range ports {
		stem, ok := strings.CutSuffix(p.name, "valid")
		if ok && p.output && stem != "" && strings.HasPrefix(output, stem) && output != p.name &&
			!strings.HasSuffix(output, "ready") && len(p.name) > len(longest) {
			longest = p.name
		}
	}
	return longest
}

// miter compares two versions, gold and gate, cycle by cycle: trigger is high when an output that
// is looked at differs.
func (b *block) miter(ports []port) string {
	var declared, wires, gold, gate, differ []string
	inputs := map[string]bool{}
	for _, p := range ports {
		inputs[p.name] = !p.output
	}
	for _, p := range ports {
		if !p.output {
			declared = append(declared, fmt.Sprintf("input [%s-1:0] %s", p.width, p.name))
			gold = append(gold, fmt.Sprintf(".%s(%s)", p.name, p.name))
			gate = append(gate, fmt.Sprintf(".%s(%s)", p.name, p.name))
			continue
		}
		wires = append(wires, fmt.Sprintf("  wire [%s-1:0] gold_%s, gate_%s;", p.width, p.name, p.name))
		gold = append(gold, fmt.Sprintf(".%s(gold_%s)", p.name, p.name))
		gate = append(gate, fmt.Sprintf(".%s(gate_%s)", p.name, p.name))
		condition := ""
		if with := b.gateOf(p.name, ports); inputs[with] {
			condition = fmt.Sprintf("|%s && ", with)
		} else if with != "" {
			condition = fmt.Sprintf("|gold_%s && ", with)
		}
		differ = append(differ, fmt.Sprintf("(%sgold_%s != gate_%s)", condition, p.name, p.name))
	}
	return fmt.Sprintf("module miter(%s, output trigger);\n%s\n  gold u_gold(%s);\n  gate u_gate(%s);\n  assign trigger = %s;\nendmodule\n",
		strings.Join(declared, ", "), strings.Join(wires, "\n"), strings.Join(gold, ", "), strings.Join(gate, ", "), strings.Join(differ, " || "))
}
