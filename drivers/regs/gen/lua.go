package main

// renderLua writes a local table; the dissector is this file with the hand-written part behind it.
func renderLua(d *description) ([]byte, error) {
	t := new(text)
	t.line("-- %s", generated)
	t.line("local nicloop_desc = {")
	t.line("  version = %d,", d.Version)
	t.line("  desc_hash = %q,", hex(d.hash))
	t.line("  constants = {")
	for _, c := range d.Constants {
		t.line("    %s = %d,", c.Name, c.Val.Value)
	}
	t.line("  },\n  enums = {")
	for _, e := range d.Enums {
		t.line("    %s = {", e.Name)
		for _, v := range e.Val.Values {
			t.line("      [%d] = %q,", v.Val, v.Name)
		}
		t.line("    },")
	}
	t.line("  },\n  -- fields in order; enum is absent where a field is a plain number\n  formats = {")
	for _, f := range d.Formats {
		t.line("    %s = {", f.Name)
		for _, fl := range f.Val.Fields {
			enum := ""
			if fl.Val.Enum != "" {
				enum = ", enum = \"" + fl.Val.Enum + "\""
			}
			t.line("      { name = %q, lsb = %d, width = %d%s, doc = %q },", fl.Name, fl.Val.At.lsb(), fl.Val.At.width(), enum, fl.Val.Doc)
		}
		t.line("    },")
	}
	t.line("  },\n}")
	return t.bytes(), nil
}
