package cycles

import "testing"

// Any text is a baseline or an error.
func FuzzParse(f *testing.F) {
	f.Add("rtl:\tvelo/lengths\t100\tfirst\n# a comment\n\n")
	f.Add("rtl:\ta\t0\tx\n")
	f.Add("a\tb\t1\tx\na\tb\t1\tx\n")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = Parse(text) })
}
