package build

import (
	"fmt"
	"strings"
)

// flatNodes is the largest mesh that is verilated as one piece. Beyond it the node is
// verilated and compiled once, as a block of its own (Verilator's --hierarchical), and
// the build takes the time of one node whatever the mesh (rtl/README.md has the figures).
// The price is speed, and waves that show the wires between nodes alone.
const flatNodes = 4

const meshFile = "sim_mesh.sv"

func (s *Spec) hierarchical() bool { return s.Nodes() > flatNodes }

// topArgs name the top module and give it its parameters.
func (s *Spec) topArgs() []string {
	if s.hierarchical() {
		return []string{"--top-module", "sim_mesh", "--hierarchical", "+define+NICLOOP_HIERARCHICAL"}
	}
	return append([]string{"--top-module", "sim_top"}, s.parameters()...)
}

func (s *Spec) makefile() string {
	if s.hierarchical() {
		return "Vsim_top_hier.mk"
	}
	return "Vsim_top.mk"
}

// meshTop is a top module that holds the parameters: Verilator 5.006 refuses -G with
// --hierarchical.
func (s *Spec) meshTop() []byte {
	values := make([]string, 0, 8)
	for _, p := range s.parameters() {
		name, value, _ := strings.Cut(strings.TrimPrefix(p, "-G"), "=")
		values = append(values, fmt.Sprintf(".%s(%s)", name, value))
	}
	return fmt.Appendf(nil, `module sim_mesh (
    input logic clk, rst, input logic [%[1]d:0] reg_pending, pio_pending, input logic trace_on,
    output logic [%[1]d:0] irq, output logic idle, active);
  sim_top #(%[2]s) u_top (.*);
endmodule
`, s.Nodes()-1, strings.Join(values, ", "))
}
