package main

import (
	"strings"
	"testing"
	"time"
)

const sample = `// sample: a comment with if (a) — and q <= 1;
module sample #(
    parameter int N = 2
) (
    input  logic clk, a, b,
    output logic q
);
  localparam int M = N - 1;
  logic [N-1:0] count;
  assign q = a && !b;  // a <= b
  always_ff @(posedge clk)
    if (a || count < N'(3)) count <= count + 1'b1;
  generate
    if (N > 1) begin : g_wide
      assign x = 1'b0;
    end
  endgenerate
` + "`ifndef SYNTHESIS\n  always_ff @(posedge clk) if (b) assert (a);\n`endif" + `
endmodule
`

func sampleBlock() *block {
	b := &block{name: "sample", file: "rtl/core/sample.sv", text: sample}
	b.findSites()
	return b
}

func TestSitesAreExpressionsOfTheDesign(t *testing.T) {
	b := sampleBlock()
	var got []string
	for _, s := range b.sites {
		got = append(got, strings.TrimSpace(sample[s.from:s.to]))
	}
	want := "a || count < N'(3); a && !b; count + 1'b1; 1'b0"
	if strings.Join(got, "; ") != want {
		t.Errorf("sites %q, expected %q", strings.Join(got, "; "), want)
	}
}

func TestEveryMutantChangesOneExpression(t *testing.T) {
	b := sampleBlock()
	seen := map[string]bool{}
	for _, m := range b.mutants() {
		text := b.alone(m)
		if text == sample || seen[text] {
			t.Errorf("%v: not a mutant of its own", m)
		}
		seen[text] = true
		if !strings.HasPrefix(text, sample[:b.body]) {
			t.Errorf("%v changes the ports", m)
		}
	}
	for _, want := range []string{"assign q = a || !b;", "assign q = a && b;", "count <= count - 1'b1;", "count <=count;", "if (1'b0) count"} {
		found := false
		for text := range seen {
			found = found || strings.Contains(text, want)
		}
		if !found {
			t.Errorf("no mutant has %q", want)
		}
	}
}

func TestTheSeedChoosesMutants(t *testing.T) {
	b := sampleBlock()
	one, two, other := b.choose(5, 1), b.choose(5, 1), b.choose(5, 2)
	same := func(x, y []mutant) bool {
		for i := range x {
			if x[i].key() != y[i].key() {
				return false
			}
		}
		return true
	}
	if len(one) != 5 || !same(one, two) || same(one, other) {
		t.Errorf("seeds 1, 1 and 2 give %v, %v, %v", one, two, other)
	}
}

func TestAllMutantsTogetherCompileToTheOriginalWithout(t *testing.T) {
	b := sampleBlock()
	text := b.together(b.choose(100, 1))
	for _, want := range []string{"int nl_mutant = 0;", "assign q =(nl_mutant ==", "(a && !b));"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestScore(t *testing.T) {
	var s score
	for _, v := range []string{"bench link", "proof voq", "harmless", "invalid", "survived bench,equivalence"} {
		s.add(verdict{Verdict: v})
	}
	if got := s.row("x"); got != "| x | 4 | 1 | 1 | 1 | 0 | 1 | 66.7 |" {
		t.Error(got)
	}
}

func TestCommentsDoNotChangeKeys(t *testing.T) {
	b, other := sampleBlock(), &block{text: strings.Replace(sample, "  assign q", "  // why\n  assign  q", 1)}
	other.findSites()
	one, two := b.mutants(), other.mutants()
	if len(one) == 0 || len(one) != len(two) {
		t.Fatalf("%d and %d mutants", len(one), len(two))
	}
	for i := range one {
		if one[i].key() != two[i].key() {
			t.Errorf("%v and %v have different keys", one[i], two[i])
		}
	}
}

func TestBlocksOfOneBenchFormAGroup(t *testing.T) {
	var judges []*judge
	for _, name := range []string{"voq", "skid", "router"} {
		judges = append(judges, &judge{block: &block{name: name}})
	}
	all := groups(judges, options{})
	if len(all) != 2 || len(all[0].judges) != 2 || all[0].benches[0] != "router" || all[1].benches[0] != "skid" {
		t.Errorf("groups %+v", all)
	}
}

func TestLimitEndsTheWholeProcessGroup(t *testing.T) {
	start := time.Now()
	r := command(".", 100*time.Millisecond, nil, "bash", "-c", "sleep 20 & wait")
	if r.ok || !r.timeout || time.Since(start) > 10*time.Second {
		t.Errorf("ok %v, timeout %v after %v", r.ok, r.timeout, time.Since(start))
	}
}

func TestASurvivorIsPendingForLaterStages(t *testing.T) {
	b := sampleBlock()
	j := &judge{block: b, mutants: b.choose(3, 1), known: map[string]verdict{}}
	for i, how := range []string{"survived bench", "bench x"} {
		j.known[j.mutants[i].key()] = verdict{Verdict: how}
	}
	for stage, want := range map[string]int{"bench": 1, "equivalence": 2} {
		if got := len(j.pending(stage)); got != want {
			t.Errorf("%s: %d pending, expected %d", stage, got, want)
		}
	}
}

func TestAMutantDiffersFromTheOriginal(t *testing.T) {
	b := &block{name: "same", text: "module same (\n    input logic [1:0] a\n);\n  assign q = a == 2'd3;\nendmodule\n"}
	b.body = strings.Index(b.text, "\n);") + 3
	b.findSites()
	for _, m := range b.choose(100, 1) {
		if b.alone(m) == b.text {
			t.Errorf("%v is the original", m)
		}
	}
}

func TestOutputsAreLookedAtWithTheirValid(t *testing.T) {
	ports := portsOf("  wire input 1 \\clk\n  wire output 2 \\m_arvalid\n  wire width 64 output 3 \\m_araddr\n  wire output 4 \\m_arready\n" +
		"  wire width 32 output 5 \\crc\n  wire input 6 \\tail\n  wire width 8 \\inside\n")
	if len(ports) != 6 || ports[2] != (port{"m_araddr", "64", true}) {
		t.Fatalf("ports %v", ports)
	}
	b := &block{name: "crc32_sender"}
	for output, want := range map[string]string{"m_araddr": "m_arvalid", "m_arvalid": "", "m_arready": "", "crc": "tail"} {
		if got := b.gateOf(output, ports); got != want {
			t.Errorf("%s is looked at with %q, expected %q", output, got, want)
		}
	}
	text := b.miter(ports)
	for _, want := range []string{"(|gold_m_arvalid && gold_m_araddr != gate_m_araddr)", "(|tail && gold_crc != gate_crc)", "(gold_m_arready != gate_m_arready)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
