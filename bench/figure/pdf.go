package figure

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgtex"
)

// pdfCanvas encodes text as the fonts of the library expect it.
type pdfCanvas struct{ *vgpdf.Canvas }

func (c pdfCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.Canvas.FillString(f, at, windows1252(s))
}

// windows1252 encodes a text; characters that the encoding lacks become question marks.
func windows1252(s string) string {
	s = strings.NewReplacer("≥", ">=", "≤", "<=", "−", "-").Replace(s)
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80 || r >= 0xa0 && r < 0x100:
			b.WriteByte(byte(r))
		case r == '–':
			b.WriteByte(0x96)
		case r == '…':
			b.WriteByte(0x85)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// pdfDates are the dates in a PDF file. Equal figures have equal bytes, so they are set to a
// constant of the same length.
var pdfDates = regexp.MustCompile(`Date \(D:\d{14}`)

func (f *Figure) savePDF(path string) error {
	w, h := f.size()
	c := vgpdf.New(w, h)
	if err := f.draw(draw.New(pdfCanvas{c})); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	text := pdfDates.ReplaceAll(b.Bytes(), []byte("Date (D:20000101000000"))
	return write(path, func(o io.Writer) error { _, err := o.Write(text); return err })
}

// pgfCanvas escapes text for TeX.
type pgfCanvas struct{ *vgtex.Canvas }

var texSpecial = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "µ", `\ensuremath{\mu}`,
	"×", `\ensuremath{\times}`, "≥", `\ensuremath{\geq}`, "≤", `\ensuremath{\leq}`, "–", "--", "…", `\dots{}`)

func (c pgfCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.Canvas.FillString(f, at, texSpecial.Replace(s))
}

func (f *Figure) savePGF(path string) error {
	w, h := f.size()
	c := vgtex.New(w, h)
	if err := f.draw(draw.New(pgfCanvas{c})); err != nil {
		return err
	}
	return write(path, func(o io.Writer) error { _, err := c.WriteTo(o); return err })
}
