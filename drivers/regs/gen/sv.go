package main

// renderSV writes a package of localparams only: the subset that Verilator and yosys both read.
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
		t.line("")
		t.line("  // %s: %s", e.Name, e.Val.Doc)
		for _, v := range e.Val.Values {
			t.line("  localparam int %s_%s = %d;", upper(e.Name), v.Name, v.Val)
		}
	}
	for _, f := range d.Formats {
		t.line("")
		t.line("  // %s: %s", f.Name, f.Val.Doc)
		t.line("  localparam int %s_W = %d;", upper(f.Name), f.Val.Width)
		for _, fl := range f.Val.Fields {
			svSpan(t, f.Name+"_"+fl.Name, fl.Val.At)
		}
	}
	svPages(t, d)
	t.line("endpackage")
	return t.bytes(), nil
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
		}
	}
}
