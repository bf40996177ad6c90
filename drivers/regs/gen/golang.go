package main

import (
	"fmt"
	"go/format"
	"sort"
	"strings"
)

// renderGo writes the constants, addresses and format types of package regs.
func renderGo(d *description) ([]byte, error) {
	t := new(text)
	t.line("// %s\n\npackage regs\n\nimport \"strconv\"\n", generated)
	t.line("const (\n// MagicValue is what register MAGIC reads.\nMagicValue uint64 = 0x%016x", d.Magic)
	t.line("// VersionValue is the version of the description.\nVersionValue = %d", d.Version)
	t.line("// DescHashValue is what register DESC_HASH reads on hardware built from the same description.\nDescHashValue uint64 = 0x%016x", d.hash)
	t.line(")\n\nconst (")
	for _, c := range d.Constants {
		t.line("%s = %d // %s", camel(c.Name), c.Val.Value, c.Val.Doc)
	}
	t.line(")")
	for _, e := range d.Enums {
		goEnum(t, e)
	}
	for _, f := range d.Formats {
		goFormat(t, f)
	}
	goPages(t, d)
	out, err := format.Source(t.bytes())
	if err != nil {
		return nil, fmt.Errorf("generated Go does not parse: %w", err)
	}
	return out, nil
}

func goEnum(t *text, e entry[enumeration]) {
	typ := camel(e.Name)
	t.line("\n// %s: %s.\ntype %s uint8\n\nconst (", typ, e.Val.Doc, typ)
	for _, v := range e.Val.Values {
		t.line("%s%s %s = %d", typ, camel(v.Name), typ, v.Val)
	}
	t.line(")\n\nfunc (v %s) String() string {\nswitch v {", typ)
	for _, v := range e.Val.Values {
		t.line("case %s%s:\nreturn %q", typ, camel(v.Name), v.Name)
	}
	t.line("}\nreturn \"%s(\" + strconv.Itoa(int(v)) + \")\"\n}", typ)
}

// goType is the smallest Go type that holds a field.
func goType(f field) string {
	switch w := f.At.width(); {
	case f.Enum != "":
		return camel(f.Enum)
	case w == 1 && !f.Number:
		return "bool"
	case w <= 8:
		return "uint8"
	case w <= 16:
		return "uint16"
	case w <= 32:
		return "uint32"
	}
	return "uint64"
}

func goFormat(t *text, f entry[layout]) {
	typ := camel(f.Name)
	word := "uint64"
	if f.Val.Width <= 32 {
		word = "uint32"
	}
	t.line("\n// %s: %s.\ntype %s %s", typ, f.Val.Doc, typ, word)
	t.line("\n// %sFields are the fields of a %s.\ntype %sFields struct {", typ, typ, typ)
	fields := named(f.Val.Fields)
	for _, fl := range fields {
		t.line("%s %s // %s", camel(fl.Name), goType(fl.Val), fl.Val.Doc)
	}
	t.line("}\n\n// Pack builds the word. It panics when a field does not fit its width.\nfunc (f %sFields) Pack() %s {\nreturn %s(", typ, typ, typ)
	for i, fl := range fields {
		join := " |"
		if i == len(fields)-1 {
			join = ")"
		}
		t.line("%s%s", goPut(typ, fl), join)
	}
	t.line("}\n\n// Fields takes the word apart.\nfunc (w %s) Fields() %sFields {\nreturn %sFields{", typ, typ, typ)
	for _, fl := range fields {
		t.line("%s: w.%s(),", camel(fl.Name), camel(fl.Name))
	}
	t.line("}\n}")
	for _, fl := range fields {
		goGetter(t, typ, fl)
	}
}

// named drops the reserved fields, which are always 0.
func named(fields ordered[field]) ordered[field] {
	var out ordered[field]
	for _, f := range fields {
		if f.Name != "rsvd" {
			out = append(out, f)
		}
	}
	return out
}

func goPut(typ string, f entry[field]) string {
	s := f.Val.At
	if goType(f.Val) == "bool" {
		return fmt.Sprintf("putBool(f.%s, %d)", camel(f.Name), s.lsb())
	}
	return fmt.Sprintf("put(\"%s.%s\", uint64(f.%s), %d, %d)", typ, camel(f.Name), camel(f.Name), s.lsb(), s.width())
}

func goGetter(t *text, typ string, f entry[field]) {
	s := f.Val.At
	t.line("\n// %s: %s.", camel(f.Name), f.Val.Doc)
	if goType(f.Val) == "bool" {
		t.line("func (w %s) %s() bool { return w>>%d&1 != 0 }", typ, camel(f.Name), s.lsb())
		return
	}
	t.line("func (w %s) %s() %s { return %s(w >> %d & %#x) }", typ, camel(f.Name), goType(f.Val), goType(f.Val), s.lsb(), s.mask()>>s.lsb())
}

func goPages(t *text, d *description) {
	for _, p := range d.Pages {
		if !p.Val.strided() {
			t.line("\n// Page %s: %s.\nconst (", p.Name, p.Val.Doc)
			for _, r := range p.Val.Registers {
				t.line("%s uint32 = %#x // %s: %s", camel(r.Name), p.Val.Base+r.Val.Off, r.Val.Access, r.Val.Doc)
			}
			t.line(")")
		} else {
			goStrided(t, p)
		}
		for _, r := range p.Val.Registers {
			goRegFields(t, r)
		}
	}
	goTable(t, d)
}

func goStrided(t *text, p entry[page]) {
	for _, r := range p.Val.Registers {
		t.line("\n// %s is the address of register %s of a %s (%s): %s.", camel(r.Name), r.Name, word(p.Val.index()), r.Val.Access, r.Val.Doc)
		t.line("func %s(%s uint8) uint32 { return strided(%#x, %#x, %d, %[2]s) }", camel(r.Name), p.Val.index(), p.Val.Base+r.Val.Off, p.Val.Stride, p.Val.Count)
	}
}

// goRegFields writes single bits as masks and wider fields as Bits.
func goRegFields(t *text, r entry[register]) {
	if len(r.Val.Fields) == 0 {
		return
	}
	t.line("\n// Fields of register %s.\nconst (", r.Name)
	for _, f := range r.Val.Fields {
		name := camel(r.Name) + camel(f.Name)
		if f.Val.width() == 1 {
			t.line("%s uint64 = 1 << %d", name, f.Val.lsb())
		} else {
			t.line("%s Bits = %s // [%s]", name, goBits(f.Val), f.Val.bits())
		}
	}
	t.line(")")
}

// goBits is the constant of type regs.Bits for a position.
func goBits(s span) string { return fmt.Sprintf("%#04x", s.width()<<8|s.lsb()) }

// goTable writes the register table in order of address, one entry per page's register.
func goTable(t *text, d *description) {
	type row struct {
		page page
		reg  entry[register]
	}
	var rows []row
	for _, p := range d.Pages {
		for _, r := range p.Val.Registers {
			rows = append(rows, row{p.Val, r})
		}
	}
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].page.Base+rows[i].reg.Val.Off < rows[j].page.Base+rows[j].reg.Val.Off
	})
	t.line("\n// table holds every register in order of address.\nvar table = []Register{")
	for _, r := range rows {
		t.line("{Name: %q, Offset: %#x, Stride: %#x, Count: %d, Access: %s, Doc: %q, Fields: %s},", r.reg.Name,
			r.page.Base+r.reg.Val.Off, r.page.Stride, max(1, r.page.Count), upper(r.reg.Val.Access), r.reg.Val.Doc, goFieldList(r.reg.Val.Fields))
	}
	t.line("}")
}

func goFieldList(fields ordered[span]) string {
	if len(fields) == 0 {
		return "nil"
	}
	var b strings.Builder
	b.WriteString("[]Field{\n")
	for _, f := range fields {
		fmt.Fprintf(&b, "{Name: %q, Bits: %s},\n", f.Name, goBits(f.Val))
	}
	return b.String() + "}"
}
