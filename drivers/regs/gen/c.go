package main

import (
	"fmt"
	"strings"
)

// renderC writes the header for the C++ bench and for programs on boards.
func renderC(d *description) ([]byte, error) {
	t := new(text)
	t.line("/* %s */", generated)
	t.line("#ifndef NICLOOP_H\n#define NICLOOP_H\n#include <stdint.h>\n")
	t.line("#define NICLOOP_MAGIC_VALUE     UINT64_C(0x%016x)", d.Magic)
	t.line("#define NICLOOP_VERSION_VALUE   UINT64_C(%d)", d.Version)
	t.line("#define NICLOOP_DESC_HASH_VALUE UINT64_C(0x%016x)\n", d.hash)
	for _, c := range d.Constants {
		t.line("#define NICLOOP_%s %d /* %s */", c.Name, c.Val.Value, c.Val.Doc)
	}
	for _, e := range d.Enums {
		t.line("\n/* %s: %s */", e.Name, e.Val.Doc)
		for _, v := range e.Val.Values {
			t.line("#define NICLOOP_%s_%s %d", upper(e.Name), v.Name, v.Val)
		}
	}
	for _, f := range d.Formats {
		t.line("\n/* %s: %s */", f.Name, f.Val.Doc)
		for _, fl := range f.Val.Fields {
			cSpan(t, f.Name+"_"+fl.Name, fl.Val.At)
		}
	}
	cPages(t, d)
	cTable(t, d)
	t.line("\n#endif")
	return t.bytes(), nil
}

func cSpan(t *text, name string, s span) {
	t.line("#define NICLOOP_%s_LSB  %d", upper(name), s.lsb())
	t.line("#define NICLOOP_%s_W    %d", upper(name), s.width())
	t.line("#define NICLOOP_%s_MASK UINT64_C(%#x)", upper(name), s.mask())
}

func cPages(t *text, d *description) {
	for _, p := range d.Pages {
		t.line("\n/* page %s: %s */", p.Name, p.Val.Doc)
		for _, r := range p.Val.Registers {
			doc := r.Val.Access + ": " + r.Val.Doc
			if p.Val.strided() {
				t.line("#define NICLOOP_REG_%s(i) (%#xu + %#xu * (i)) /* %s */", r.Name, p.Val.Base+r.Val.Off, p.Val.Stride, doc)
			} else {
				t.line("#define NICLOOP_REG_%s %#xu /* %s */", r.Name, p.Val.Base+r.Val.Off, doc)
			}
			for _, f := range r.Val.Fields {
				cSpan(t, r.Name+"_"+f.Name, f.Val)
			}
		}
	}
}

// cTable writes the register map as a macro that calls another for every register.
func cTable(t *text, d *description) {
	t.line("\n/* X(name, address of the first copy, stride, copies, access) for every register */")
	rows := []string{}
	for _, p := range d.Pages {
		for _, r := range p.Val.Registers {
			rows = append(rows, fmt.Sprintf("X(%s, %#x, %#x, %d, %s)", r.Name, p.Val.Base+r.Val.Off, p.Val.Stride, max(1, p.Val.Count), upper(r.Val.Access)))
		}
	}
	t.line("#define NICLOOP_REGISTERS(X) \\\n  %s", strings.Join(rows, " \\\n  "))
}
