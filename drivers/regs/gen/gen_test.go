package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

func TestOutputsAreCurrent(t *testing.T) {
	require.NoError(t, run(root, true))
}

func TestCheckSeesAStaleFile(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{source, records} {
		desc, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), desc, 0o644))
	}
	require.NoError(t, run(dir, false))
	require.NoError(t, run(dir, true))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rtl/desc/nicloop.h"), []byte("old"), 0o644))
	require.ErrorContains(t, run(dir, true), "rtl/desc/nicloop.h: stale: run `go generate ./drivers/regs`")
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key": {"formats:\n  a: {width: 8, colour: 1}", `line 2: unknown key "colour"`},
		"unknown top": {"colour: 1", "field colour not found"},
		"duplicate":   {"constants:\n  A: {value: 1}\n  A: {value: 2}", `line 3: "A" was already given on line 2`},
		"overlap":     {"formats:\n  a: {width: 8, fields: {x: {at: [0, 5]}, y: {at: [4, 4]}}}", "field y: bits 0x10 are already taken"},
		"too wide":    {"formats:\n  a: {width: 8, fields: {x: {at: [4, 5]}}}", "[lsb 4, width 5] does not fit 8 bits"},
		"zero width":  {"formats:\n  a: {width: 8, fields: {x: {at: [4, 0]}}}", "[lsb 4, width 0] does not fit 8 bits"},
		"hole":        {"formats:\n  a: {width: 8, fields: {x: {at: [0, 7]}}}", "bits 0x80 belong to no field"},
		"no enum":     {"formats:\n  a: {width: 8, fields: {x: {at: [0, 8], enum: b}}}", `no enum is called "b"`},
		"enum wide":   {"enums:\n  b: {values: {C: 4}}\nformats:\n  a: {width: 2, fields: {x: {at: [0, 2], enum: b}}}", "C = 4 does not fit 2 bits"},
		"enum widths": {"enums:\n  b: {values: {C: 1}}\nformats:\n  a: {width: 5, fields: {x: {at: [0, 2], enum: b}, y: {at: [2, 3], enum: b}}}", "field y: 3 bits, elsewhere enum b has 2"},
		"same value":  {"enums:\n  b: {values: {C: 4, D: 4}}", "C and D both have the value 4"},
		"same offset": {"pages:\n  p:\n    registers:\n      A: {off: 8, access: ro}\n      B: {off: 8, access: ro}", "A and B share offset 0x8"},
		"misaligned":  {"pages:\n  p:\n    registers:\n      A: {off: 4, access: ro}", "offset 0x4 is not a multiple of 8"},
		"access":      {"pages:\n  p:\n    registers:\n      A: {off: 8, access: wo}", `access "wo", expected ro, rw or w1c`},
		"stride":      {"pages:\n  p:\n    stride: 8\n    count: 2\n    registers:\n      A: {off: 8, access: ro}", "need 0x10 bytes, the stride is 0x8"},
		"same pages":  {"pages:\n  p: {base: 0, registers: {A: {off: 8, access: ro}}}\n  q: {base: 8, registers: {B: {off: 0, access: ro}}}", "page q overlaps page p"},
		"bad name":    {"constants:\n  a-b: {value: 1}", `constant name "a-b"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestRecordErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key": {"records:\n  r: {width: 8}", `line 2: unknown key "width"`},
		"zero width":  {"records:\n  r: {fields: {x: {bits: 0}}}", "line 2: record r, field x: 0 bits"},
		"of a format": {"records:\n  a: {fields: {x: {bits: 1}}}", "line 2: record a: a format is called so"},
		"of register": {"records:\n  b: {fields: {x: {bits: 1}}}", "line 2: record b: a register's is called so"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parse([]byte("formats:\n  a: {width: 1, fields: {x: {at: [0, 1]}}}\npages:\n  p: {registers: {B: {off: 0, access: ro, fields: {x: [0, 1]}}}}"))
			require.NoError(t, err)
			require.ErrorContains(t, d.parseRecords([]byte(c.text)), c.want)
		})
	}
}

// TestStructs: the first field of a packed struct is the highest; what the language keeps to itself
// has a _; an enumeration that no field holds has no width, and so no type; what no field of a
// register has is rsvd.
func TestStructs(t *testing.T) {
	d, err := parse([]byte(`
enums:
  e: {values: {ONE: 1, TWO: 2}}
  f: {values: {THREE: 3}}
formats:
  a: {width: 8, fields: {type: {at: [0, 3], enum: e}, rsvd: {at: [4, 4]}, x: {at: [3, 1]}}}
pages:
  p: {registers: {B: {off: 0, access: ro, fields: {x: [1, 1], y: [60, 4]}}}}
`))
	require.NoError(t, err)
	require.NoError(t, d.parseRecords([]byte("records:\n  r: {fields: {low: {bits: 64, doc: l}, end: {bits: 2, doc: e}}}")))
	out, err := renderSV(d)
	require.NoError(t, err)
	require.Contains(t, string(out), `
  typedef enum logic [2:0] {
    E_ONE = 3'd1,
    E_TWO = 3'd2
  } e_t;
`)
	require.Contains(t, string(out), "\n  localparam int F_THREE = 3;\n")
	require.Contains(t, string(out), `
  typedef struct packed {
    logic [3:0] rsvd;
    logic x;
    logic [2:0] type_;  // e_t
  } a_t;
`)
	require.Contains(t, string(out), `
  localparam int R_W = 66;
  localparam int R_LOW_LSB = 0;
  localparam int R_LOW_W = 64;
  localparam int R_END_LSB = 64;
  localparam int R_END_W = 2;
  typedef struct packed {
    logic [1:0] end_;  // e
    logic [63:0] low;  // l
  } r_t;
`)
	require.Contains(t, string(out), `
  typedef struct packed {
    logic [3:0] y;
    logic [57:0] rsvd2;
    logic x;
    logic rsvd0;
  } b_t;
`)
}
