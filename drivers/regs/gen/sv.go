package main

import (
	"fmt"
	"slices"
)

// renderSV writes a package of what Verilator and yosys both read: localparams, enums, packed
// structs.
func renderSV(d *description) ([]byte, error) {
	t := new(text)
	t.line("// %s", generated)
	t.line("package nicloop_pkg;")
	t.line("  localparam logic [63:0] MAGIC_VALUE = 64'h%016x;", d.Magic)
	t.line("  localparam logic [63:0] VERSION_VALUE = 64'd%d;", d.Version)
	t.line("  localparam logic [63:0] DESC_HASH_VALUE = 64'h%016x;", d.hash)
	t.line("")
	for _, c := range d.Constants {
		t.line("  localparam int %s = %d;  // %s", c.Name, c.Val.Value, c.Val.Doc)
	}
	for _, e := range d.Enums {
		svEnum(t, e, d.enumWidth(e.Name))
	}
	for _, f := range d.Formats {
		t.line("")
		t.line("  // %s: %s", f.Name, f.Val.Doc)
		t.line("  localparam int %s_W = %d;", upper(f.Name), f.Val.Width)
		for _, fl := range f.Val.Fields {
			svSpan(t, f.Name+"_"+fl.Name, fl.Val.At)
		}
		svStruct(t, f)
	}
	for _, r := range d.records {
		t.line("")
		t.line("  // %s: %s (%s)", r.Name, r.Val.Doc, records)
		t.line("  localparam int %s_W = %d;", upper(r.Name), r.Val.width())
		lsb := 0
		for _, f := range r.Val.Fields {
			svSpan(t, r.Name+"_"+f.Name, span{lsb, f.Val.Bits})
			lsb += f.Val.Bits
		}
		svRecord(t, r)
	}
	svPages(t, d)
	t.line("endpackage")
	return t.bytes(), nil
}

// svEnum writes a type for an enumeration that is a field of a format, as wide as that; else
// numbers.
func svEnum(t *text, e entry[enumeration], width int) {
	t.line("")
	t.line("  // %s: %s", e.Name, e.Val.Doc)
	if width == 0 {
		for _, v := range e.Val.Values {
			t.line("  localparam int %s_%s = %d;", upper(e.Name), v.Name, v.Val)
		}
		return
	}
	t.line("  typedef enum logic%s {", svRange(width))
	for i, v := range e.Val.Values {
		comma := ","
		if i == len(e.Val.Values)-1 {
			comma = ""
		}
		t.line("    %s_%s = %d'd%d%s", upper(e.Name), v.Name, width, v.Val, comma)
	}
	t.line("  } %s_t;", e.Name)
}

// svStruct writes a format as a packed struct, whose first field is the highest. A field that holds
// a value of an enumeration is of plain bits, as it may hold any other, too.
func svStruct(t *text, f entry[layout]) {
	fields := slices.Clone(f.Val.Fields)
	slices.SortFunc(fields, func(a, b entry[field]) int { return b.Val.At.lsb() - a.Val.At.lsb() })
	t.line("  typedef struct packed {")
	for _, fl := range fields {
		of := ""
		if fl.Val.Enum != "" {
			of = "  // " + fl.Val.Enum + "_t"
		}
		t.line("    logic%s %s;%s", svRange(fl.Val.At.width()), svField(fl.Name), of)
	}
	t.line("  } %s_t;", f.Name)
}

// svRecord writes a record as a packed struct.
func svRecord(t *text, r entry[record]) {
	t.line("  typedef struct packed {")
	for _, f := range slices.Backward(r.Val.Fields) {
		t.line("    logic%s %s;  // %s", svRange(f.Val.Bits), svField(f.Name), f.Val.Doc)
	}
	t.line("  } %s_t;", r.Name)
}

// svRegister writes the fields of a register as a packed struct of its 64 bits; those of no field
// are rsvd and the number of their lowest.
func svRegister(t *text, r entry[register]) {
	fields := slices.Clone(r.Val.Fields)
	slices.SortFunc(fields, func(a, b entry[span]) int { return b.Val.lsb() - a.Val.lsb() })
	end := regBits
	rsvd := func(lsb int) {
		if lsb < end {
			t.line("    logic%s rsvd%d;", svRange(end-lsb), lsb)
		}
	}
	t.line("  typedef struct packed {")
	for _, f := range fields {
		rsvd(f.Val.lsb() + f.Val.width())
		t.line("    logic%s %s;", svRange(f.Val.width()), svField(f.Name))
		end = f.Val.lsb()
	}
	rsvd(0)
	t.line("  } %s_t;", lower(r.Name))
}

func svRange(width int) string {
	if width == 1 {
		return ""
	}
	return fmt.Sprintf(" [%d:0]", width-1)
}

func svSpan(t *text, name string, s span) {
	t.line("  localparam int %s_LSB = %d;", upper(name), s.lsb())
	t.line("  localparam int %s_W = %d;", upper(name), s.width())
}

func svPages(t *text, d *description) {
	w := d.addrBits()
	t.line("")
	t.line("  localparam int REG_ADDR_W = %d;", w)
	for _, p := range d.Pages {
		t.line("")
		t.line("  // page %s: %s", p.Name, p.Val.Doc)
		t.line("  localparam logic [%d:0] PAGE_%s_BASE = %d'h%05x;", w-1, upper(p.Name), w, p.Val.Base)
		if p.Val.strided() {
			t.line("  localparam int PAGE_%s_STRIDE = %d;", upper(p.Name), p.Val.Stride)
			t.line("  localparam int PAGE_%s_COUNT = %d;", upper(p.Name), p.Val.Count)
		}
		for _, r := range p.Val.Registers {
			t.line("  localparam logic [%d:0] REG_%s = %d'h%05x;  // %s: %s", w-1, r.Name, w, r.Val.Off, r.Val.Access, r.Val.Doc)
			for _, f := range r.Val.Fields {
				svSpan(t, r.Name+"_"+f.Name, f.Val)
			}
			if len(r.Val.Fields) > 0 {
				svRegister(t, r)
			}
		}
	}
}
