package main

import (
	"errors"
	"fmt"
	"regexp"
)

const (
	regBytes  = 8  // a register
	regBits   = 64 // its width
	maxOffset = 1 << 20
)

var (
	upperName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	lowerName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// validate reports everything that is wrong at once, each with its line.
func (d *description) validate() error {
	var errs []error
	bad := func(line int, f string, args ...any) {
		errs = append(errs, fmt.Errorf("line %d: "+f, append([]any{line}, args...)...))
	}
	for _, c := range d.Constants {
		checkName(bad, c.line, "constant", c.Name, upperName)
	}
	enums := map[string]enumeration{}
	for _, e := range d.Enums {
		checkName(bad, e.line, "enum", e.Name, lowerName)
		checkEnum(bad, e.Name, e.Val)
		enums[e.Name] = e.Val
	}
	for _, f := range d.Formats {
		checkName(bad, f.line, "format", f.Name, lowerName)
		checkFormat(bad, f, enums)
		for _, fl := range f.Val.Fields {
			if w := fl.Val.At.width(); fl.Val.Enum != "" && w != d.enumWidth(fl.Val.Enum) {
				bad(fl.line, "format %s, field %s: %d bits, elsewhere enum %s has %d", f.Name, fl.Name, w, fl.Val.Enum, d.enumWidth(fl.Val.Enum))
			}
		}
	}
	d.validatePages(bad)
	return errors.Join(errs...)
}

// validateTypes checks records, and that each type of nicloop_pkg has a name of its own.
func (d *description) validateTypes() error {
	var errs []error
	bad := func(line int, f string, args ...any) {
		errs = append(errs, fmt.Errorf("line %d: "+f, append([]any{line}, args...)...))
	}
	taken := map[string]string{}
	for _, e := range d.Enums {
		taken[e.Name] = "an enum"
	}
	for _, f := range d.Formats {
		taken[f.Name] = "a format"
	}
	for _, p := range d.Pages {
		for _, r := range p.Val.Registers {
			if len(r.Val.Fields) > 0 {
				if other, dup := taken[lower(r.Name)]; dup {
					errs = append(errs, fmt.Errorf("register %s has fields, and %s is %s", r.Name, lower(r.Name), other))
				}
				taken[lower(r.Name)] = "a register's"
			}
		}
	}
	for _, r := range d.records {
		checkName(bad, r.line, "record", r.Name, lowerName)
		if other, dup := taken[r.Name]; dup {
			bad(r.line, "record %s: %s is called so", r.Name, other)
		}
		for _, f := range r.Val.Fields {
			checkName(bad, f.line, "field", f.Name, lowerName)
			if f.Val.Bits < 1 {
				bad(f.line, "record %s, field %s: %d bits", r.Name, f.Name, f.Val.Bits)
			}
		}
	}
	return errors.Join(errs...)
}

type report func(line int, format string, args ...any)

func checkName(bad report, line int, what, name string, want *regexp.Regexp) {
	if !want.MatchString(name) {
		bad(line, "%s name %q: expected %s", what, name, want)
	}
}

func checkEnum(bad report, name string, e enumeration) {
	seen := map[uint64]string{}
	for _, v := range e.Values {
		checkName(bad, v.line, "enum value", v.Name, upperName)
		if other, dup := seen[v.Val]; dup {
			bad(v.line, "enum %s: %s and %s both have the value %d", name, other, v.Name, v.Val)
		}
		seen[v.Val] = v.Name
	}
}

func checkFormat(bad report, f entry[layout], enums map[string]enumeration) {
	if f.Val.Width < 1 || f.Val.Width > 64 {
		bad(f.line, "format %s: width %d, expected 1..64", f.Name, f.Val.Width)
		return
	}
	spans := make(ordered[span], 0, len(f.Val.Fields))
	for _, fl := range f.Val.Fields {
		spans = append(spans, entry[span]{fl.Name, fl.Val.At, fl.line})
		checkFieldEnum(bad, f.Name, fl, enums)
	}
	covered := checkSpans(bad, "format "+f.Name, spans, f.Val.Width)
	if want := (span{0, f.Val.Width}).mask(); covered != want {
		bad(f.line, "format %s: bits %#x belong to no field: name them rsvd", f.Name, want&^covered)
	}
}

func checkFieldEnum(bad report, name string, f entry[field], enums map[string]enumeration) {
	if f.Val.Enum == "" {
		return
	}
	e, ok := enums[f.Val.Enum]
	if !ok {
		bad(f.line, "format %s, field %s: no enum is called %q", name, f.Name, f.Val.Enum)
		return
	}
	for _, v := range e.Values {
		if w := f.Val.At.width(); w > 0 && w < 64 && v.Val>>w != 0 {
			bad(f.line, "format %s, field %s: %s = %d does not fit %d bits", name, f.Name, v.Name, v.Val, w)
		}
	}
}

// checkSpans checks names, widths and overlaps of fields in a word and returns the bits they cover.
func checkSpans(bad report, where string, fields ordered[span], width int) uint64 {
	var covered uint64
	for _, f := range fields {
		checkName(bad, f.line, "field", f.Name, lowerName)
		s := f.Val
		if s.width() < 1 || s.lsb() < 0 || s.lsb()+s.width() > width {
			bad(f.line, "%s, field %s: [lsb %d, width %d] does not fit %d bits", where, f.Name, s.lsb(), s.width(), width)
			continue
		}
		if clash := covered & s.mask(); clash != 0 {
			bad(f.line, "%s, field %s: bits %#x are already taken", where, f.Name, clash)
		}
		covered |= s.mask()
	}
	return covered
}

func (d *description) validatePages(bad report) {
	names := map[string]int{}
	for i, p := range d.Pages {
		checkName(bad, p.line, "page", p.Name, lowerName)
		checkPage(bad, p)
		for _, r := range p.Val.Registers {
			if first, dup := names[r.Name]; dup {
				bad(r.line, "register %s was already given on line %d", r.Name, first)
			}
			names[r.Name] = r.line
		}
		for _, q := range d.Pages[:i] {
			if p.Val.Base < q.Val.Base+q.Val.size() && q.Val.Base < p.Val.Base+p.Val.size() {
				bad(p.line, "page %s overlaps page %s", p.Name, q.Name)
			}
		}
	}
}

func checkPage(bad report, p entry[page]) {
	if (p.Val.Stride == 0) != (p.Val.Count == 0) {
		bad(p.line, "page %s: stride and count belong together", p.Name)
	}
	if p.Val.strided() && p.Val.extent() > p.Val.Stride {
		bad(p.line, "page %s: its registers need %#x bytes, the stride is %#x", p.Name, p.Val.extent(), p.Val.Stride)
	}
	if p.Val.Base%regBytes != 0 || p.Val.Stride%regBytes != 0 || p.Val.Base+p.Val.size() > maxOffset {
		bad(p.line, "page %s: base %#x, stride %#x: expected multiples of %d below %#x", p.Name, p.Val.Base, p.Val.Stride, regBytes, maxOffset)
	}
	checkName(bad, p.line, "index", p.Val.index(), lowerName)
	at := map[uint64]string{}
	for _, r := range p.Val.Registers {
		checkRegister(bad, r)
		if other, dup := at[r.Val.Off]; dup {
			bad(r.line, "registers %s and %s share offset %#x", other, r.Name, r.Val.Off)
		}
		at[r.Val.Off] = r.Name
	}
}

func checkRegister(bad report, r entry[register]) {
	checkName(bad, r.line, "register", r.Name, upperName)
	if r.Val.Off%regBytes != 0 {
		bad(r.line, "register %s: offset %#x is not a multiple of %d", r.Name, r.Val.Off, regBytes)
	}
	switch r.Val.Access {
	case "ro", "rw", "w1c":
	default:
		bad(r.line, "register %s: access %q, expected ro, rw or w1c", r.Name, r.Val.Access)
	}
	checkSpans(bad, "register "+r.Name, r.Val.Fields, regBits)
}
