package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	word       = regexp.MustCompile(`[A-Z]*[a-z]+|[A-Z]+`)
)

// split gives the words of a name in small letters: kMaxLanes, wr_place and PLACE have max, lanes, wr and place.
func split(name string) (list []string) {
	for _, w := range word.FindAllString(name, -1) {
		// NICPool: the last capital begins the word.
		if i := strings.LastIndexFunc(w, unicode.IsUpper); i > 0 && i < len(w)-1 {
			list = append(list, strings.ToLower(w[:i]))
			w = w[i:]
		}
		list = append(list, strings.ToLower(w))
	}
	return list
}

// What is no code: one regular expression finds strings and comments by what comes first, so that neither is looked
// for inside the other.
var (
	slashes = regexp.MustCompile("(?s)//[^\n]*|/\\*.*?\\*/|\"(?:\\\\.|[^\"\\\\\n])*\"|`[^`]*`|'(?:\\\\.[^'\n]*|[^'\\\\\n])'")
	verilog = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"`) // ` begins a macro
)

// parts gives a file's code, and its comments and strings. Each has as many lines as the file. What is no
// program is all prose: its lines of code, as a script has, are few.
func parts(file string, content []byte) (code, prose string) {
	text := string(content)
	var other *regexp.Regexp
	switch filepath.Ext(file) {
	case ".go", ".js":
		other = slashes
	case ".sv", ".svh", ".vlt", ".cpp", ".h":
		other = verilog
	default:
		return "", text
	}
	var c, p strings.Builder
	at := 0
	for _, m := range other.FindAllStringIndex(text, -1) {
		c.WriteString(text[at:m[0]])
		p.WriteString(lines(text[at:m[0]]))
		c.WriteString(lines(text[m[0]:m[1]]))
		p.WriteString(text[m[0]:m[1]])
		at = m[1]
	}
	c.WriteString(text[at:])
	return c.String(), p.String()
}

// lines keeps of a text its ends of lines.
func lines(text string) string { return " " + strings.Repeat("\n", strings.Count(text, "\n")) }
