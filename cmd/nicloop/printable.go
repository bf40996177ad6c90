package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A printableWriter escapes control characters, which a terminal would execute. File names,
// database records and messages of peers may contain them.
type printableWriter struct{ w io.Writer }

func (p printableWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printable replaces control characters except newlines and tabs by escapes such as \x1b.
func printable(text string) string {
	isControl := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var s strings.Builder
	for _, r := range text {
		if isControl(r) {
			fmt.Fprintf(&s, `\x%02x`, r)
		} else {
			s.WriteRune(r)
		}
	}
	return s.String()
}
