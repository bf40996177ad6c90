package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// synthesize writes the flattened netlist of module top, as scripts/cdc does.
func synthesize(t *testing.T, text string) *netlist {
	t.Helper()
	if _, err := exec.LookPath("yosys"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	source, file := filepath.Join(dir, "top.sv"), filepath.Join(dir, "top.json")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "read_verilog -sv " + source + "; hierarchy -check -top top; proc; flatten; opt_expr; memory_collect; " +
		"opt_dff; opt_clean; write_json " + file
	if out, err := exec.Command("yosys", "-q", "-p", script).CombinedOutput(); err != nil {
		t.Fatalf("yosys: %v\n%s", err, out)
	}
	n, err := readNetlist(file, "top")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const level = `
module level #(parameter STAGES = 2, W = 1) (input clk, rst, input [W-1:0] d, output [W-1:0] q);
  reg [STAGES*W-1:0] stages;
  always @(posedge clk) stages <= rst ? 0 : {stages, d};
  assign q = stages[STAGES*W-1-:W];
endmodule
`

// top has a register a of clock ca and a register b of cb, with body between.
func between(body string) string {
	return level + `
module top (input ca, cb, d, rst, output reg b);
  reg a, a2; reg [1:0] v;
  always @(posedge ca) begin a <= d; a2 <= !d && a; v <= {v[0], d}; end
` + body + "\nendmodule\n"
}

func TestCrossings(t *testing.T) {
	for name, c := range map[string]struct{ body, fault string }{
		"two registers":       {"wire s; level u(cb, 1'b0, a, s); always @(posedge cb) b <= s;", ""},
		"three registers":     {"wire s; level #(3) u(cb, rst, !a, s); always @(posedge cb) b <= s;", ""},
		"one register":        {"wire s; level #(1) u(cb, rst, a, s); always @(posedge cb) b <= s & b;", "a -> s: from ca to cb"},
		"one, then several":   {"wire s; reg x, y; level #(1) u(cb, rst, a, s); always @(posedge cb) begin x <= s; y <= !s; b <= x ^ y; end", "a -> "},
		"no synchroniser":     {"always @(posedge cb) b <= a ^ d;", "a -> b: from ca to cb without a synchroniser"},
		"logic in front":      {"wire s; level u(cb, rst, a ^ a2, s); always @(posedge cb) b <= s;", "without a synchroniser"},
		"first stage is used": {"reg s, s2; always @(posedge cb) begin s <= a; s2 <= s; b <= s2 ^ s; end", "without a synchroniser"},
		"an enable crosses":   {"always @(posedge cb) if (a) b <= !b;", "a -> b: "},
		"several bits":        {"wire [1:0] s; level #(2, 2) u(cb, rst, v, s); always @(posedge cb) b <= ^s;", "v -> u.stages: 2 bits cross together"},
		"reset without edge":  {"always @(posedge cb or posedge a) if (a) b <= 0; else b <= 1;", "asynchronous reset ends without regard to cb"},
		"reset with an edge": {"reg [2:0] r; always @(posedge cb or posedge a) if (a) r <= '1; else r <= {r, 1'b0};" +
			"always @(posedge cb or posedge r[2]) if (r[2]) b <= 0; else b <= 1;", ""},
		"logic before a reset": {"reg x; always @(posedge cb) x <= d; wire r = x & rst;" +
			"always @(posedge cb or posedge r) if (r) b <= 0; else b <= 1;", "may glitch"},
		"an input of two clocks": {"reg x; always @(posedge ca) x <= d ^ x; wire s; level u(cb, rst, x, s); always @(posedge cb) b <= s ^ d;", "input d -> ca and cb"},
		"memory":                 {"reg m[4]; reg [1:0] r; always @(posedge ca) m[v] <= a; always @(posedge cb) begin r <= r + !rst; b <= m[r]; end", "m -> b: "},
	} {
		t.Run(name, func(t *testing.T) {
			got := checkCrossings(synthesize(t, between(c.body)), nil).found
			if c.fault == "" && len(got) > 0 {
				t.Errorf("found %q, expected nothing", got)
			}
			if c.fault != "" && !strings.Contains(strings.Join(got, "\n"), c.fault) {
				t.Errorf("found %q, expected %q", got, c.fault)
			}
		})
	}
}

func TestRulesAllowWhatTheyName(t *testing.T) {
	n := synthesize(t, between("always @(posedge cb) b <= a ^ b;"))
	c := checkCrossings(n, []rule{{"top", "a", "b", "test"}, {"top", "x*", "b", "test"}})
	if len(c.found) > 0 || !c.used[0] || c.used[1] {
		t.Errorf("found %q, rules used: %v", c.found, c.used)
	}
}

func TestPowerUp(t *testing.T) {
	for name, c := range map[string]struct{ body, fault string }{
		"counts from X":        {"reg [3:0] n; always @(posedge ca) if (rst) n <= n + 1; always @(posedge ca) b <= n[3];", "n: "},
		"has an initial value": {"reg [3:0] n = 3; always @(posedge ca) if (rst) n <= n + 1; always @(posedge ca) b <= n[3];", ""},
		"has a reset":          {"reg [3:0] n; always @(posedge ca) n <= rst ? 0 : n + 1; always @(posedge ca) b <= n[3];", ""},
		"is loaded":            {"reg [3:0] n; always @(posedge ca) if (d) n <= 5; else n <= n - 1; always @(posedge ca) b <= n[3];", ""},
		"holds what it took":   {"reg n; always @(posedge ca) if (d) n <= a; always @(posedge ca) b <= n;", ""},
		"state from X":         {"reg [1:0] n; always @(posedge ca) case (n) 0: n <= 1; default: n <= 0; endcase always @(posedge ca) b <= n[0];", "n: "},
		"two in a ring":        {"reg x, y; always @(posedge ca) begin x <= !y; y <= x; b <= y; end", "x: "},
	} {
		t.Run(name, func(t *testing.T) {
			got := checkPowerUp(synthesize(t, between(c.body)))
			if c.fault == "" && len(got) > 0 {
				t.Errorf("found %q, expected nothing", got)
			}
			if c.fault != "" && !strings.Contains(strings.Join(got, "\n"), c.fault) {
				t.Errorf("found %q, expected %q", got, c.fault)
			}
		})
	}
}

// plant copies the RTL and changes one file.
func plant(t *testing.T, file, old, now string) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../rtl")); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, file)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), old, now)
	if changed == string(text) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestFaultsPlantedInPhyLinkAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("synthesis of phy_link")
	}
	if _, err := exec.LookPath("yosys"); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	for name, c := range map[string]struct{ file, old, now, fault string }{
		"nothing":                      {"board/sync_level.sv", "STAGES = 2", "STAGES = 3", "phy_link: ok"},
		"a synchroniser of one flop":   {"board/sync_level.sv", "STAGES = 2", "STAGES = 1", "without a synchroniser"},
		"a crossing without any":       {"board/phy_link.sv", "receives <= !arst_c && ok_c", "receives <= !arst_c && ok", "-> receives: from rx_clk to clk"},
		"a pointer that crosses alone": {"board/async_fifo.sv", "rd_gray != wr_seen", "rd_gray != wr_gray", "without a synchroniser"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("../cdc", "phy_link")
			cmd.Env = append(os.Environ(), "NICLOOP_CDC_ROOT="+plant(t, c.file, c.old, c.now), "NICLOOP_CDC_OUT="+t.TempDir())
			out, _ := cmd.CombinedOutput()
			if !strings.Contains(string(out), c.fault) {
				t.Errorf("expected %q, got:\n%s", c.fault, out)
			}
		})
	}
}
