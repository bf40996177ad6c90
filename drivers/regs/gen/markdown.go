package main

// renderMarkdown writes the page that people read.
func renderMarkdown(d *description) ([]byte, error) {
	t := new(text)
	t.line("<!-- %s -->", generated)
	t.line("# Registers and packet formats\n")
	t.line("Magic `0x%016x`, version %d, description hash `0x%016x`.\n", d.Magic, d.Version, d.hash)
	t.line("## Constants\n\n| name | value | meaning |\n|---|---|---|")
	for _, c := range d.Constants {
		t.line("| %s | %d | %s |", c.Name, c.Val.Value, c.Val.Doc)
	}
	t.line("\n## Enumerations")
	for _, e := range d.Enums {
		t.line("\n### %s\n\n%s.\n\n| value | name |\n|---|---|", e.Name, e.Val.Doc)
		for _, v := range e.Val.Values {
			t.line("| %d | %s |", v.Val, v.Name)
		}
	}
	t.line("\n## Formats")
	for _, f := range d.Formats {
		t.line("\n### %s (%d bits)\n\n%s.\n\n| bits | field | meaning |\n|---|---|---|", f.Name, f.Val.Width, f.Val.Doc)
		for _, fl := range f.Val.Fields {
			t.line("| %s | %s | %s |", fl.Val.At.bits(), fl.Name, fl.Val.Doc)
		}
	}
	t.line("\n## Registers\n\nAll are 64 bits wide.")
	for _, p := range d.Pages {
		mdPage(t, p)
	}
	return t.bytes(), nil
}

func mdPage(t *text, p entry[page]) {
	where := ""
	if p.Val.strided() {
		where = ", copy *i* of " + itoa(p.Val.Count) + " at " + hex(p.Val.Base) + " + " + hex(p.Val.Stride) + " * *i*"
	}
	t.line("\n### page %s at %s\n\n%s%s.\n\n| offset | register | access | meaning | fields |\n|---|---|---|---|---|", p.Name, hex(p.Val.Base), p.Val.Doc, where)
	for _, r := range p.Val.Registers {
		fields := ""
		for _, f := range r.Val.Fields {
			fields += f.Name + " [" + f.Val.bits() + "] "
		}
		t.line("| %s | %s | %s | %s | %s |", hex(r.Val.Off), r.Name, r.Val.Access, r.Val.Doc, fields)
	}
}
