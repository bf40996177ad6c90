package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// A comment language knows which lines hold nothing but a comment.
type commentLanguage struct {
	mark string // that begins a comment
	goes bool   // Go: lines of raw strings are no comments
}

var (
	directive = regexp.MustCompile(`^(verilator|synthesis|yosys|shellcheck|Code generated)\b`)
	aligned   = regexp.MustCompile(`[^ .:;!?]  +[^ ]`) // columns, as tables and drawings have them
	// Items hang: those of lists, and names that stand in a column of their own.
	item  = regexp.MustCompile(`^ *([-*] |[0-9]+[.)] |[^ ]+  +)`)
	label = regexp.MustCompile(`^[A-Z][A-Za-z -]*: `) // "Job: …", whose next lines are indented
)

// texts returns of every line the text of its comment, and whether it is such a line.
func (c commentLanguage) texts(lines []string) (text []string, is []bool) {
	text, is = make([]string, len(lines)), make([]bool, len(lines))
	var comments map[int]bool
	if c.goes {
		comments = goComments(strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), c.mark)
		if !ok || comments != nil && !comments[i] || rest != "" && !strings.HasPrefix(rest, " ") {
			continue // code, or a directive such as //go:build
		}
		text[i], is[i] = strings.TrimPrefix(rest, " "), true
	}
	return text, is
}

// goComments are the lines, from 0, on which a comment begins with //.
func goComments(code string) map[int]bool {
	list := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok == token.COMMENT && strings.HasPrefix(literal, "//") {
			list[file.Line(pos)-1] = true
		}
	}
}

func (c commentLanguage) wrap(source []byte) []byte {
	lines := strings.Split(string(source), "\n")
	text, is := c.texts(lines)
	var out []string
	for i := 0; i < len(lines); {
		if !is[i] || !flows(text[i]) {
			out = append(out, lines[i])
			i++
			continue
		}
		indent := indentation(lines[i])
		hang := strings.Repeat(" ", len(item.FindString(text[i])))
		if next := i + 1; hang == "" && label.MatchString(text[i]) && next < len(lines) && is[next] {
			hang = indentation(text[next])
		}
		end := i + 1
		for end < len(lines) && is[end] && indentation(lines[end]) == indent &&
			continues(text[end], hang) && !aligned.MatchString(text[end]) {
			end++
		}
		out = append(out, c.wrapBlock(lines[i:end], text[i:end], indent+c.mark+" ", hang)...)
		i = end
	}
	return []byte(strings.Join(out, "\n"))
}

func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// flows reports whether a line of a comment begins a paragraph or an item that may be wrapped.
func flows(text string) bool {
	return text != "" && (text[0] != ' ' || item.MatchString(text)) && text[0] != '#' &&
		!directive.MatchString(text) && !strings.HasPrefix(text, "Output:")
}

// continues reports whether a line belongs to the paragraph that hangs by so many columns.
func continues(text, hang string) bool {
	rest, ok := strings.CutPrefix(text, hang)
	return ok && rest != "" && rest[0] != ' ' && flows(rest) && !item.MatchString(text)
}

func (c commentLanguage) wrapBlock(lines, text []string, prefix, hang string) []string {
	long := false
	for i, line := range lines {
		long = long || columns(line) > most
		if aligned.MatchString(strings.TrimPrefix(text[i], item.FindString(text[i]))) {
			return lines
		}
	}
	if !long {
		return lines
	}
	mark := item.FindString(text[0])
	words := split(strings.TrimPrefix(strings.Join(text, "\n"), mark))
	return fill(words, prefix+mark, prefix+hang)
}

func (c commentLanguage) check(_ string, source []byte) (list []finding) {
	lines := strings.Split(string(source), "\n")
	text, is := c.texts(lines)
	for i, line := range lines {
		if strings.HasPrefix(text[i], " ") { // a drawing, a usage line, code: they keep their lines
			continue
		}
		if is[i] && columns(line) > most && breakable("", text[i]) && !directive.MatchString(text[i]) {
			list = append(list, finding{i + 1, fmt.Sprintf("a comment of %d columns, at most %d", columns(line), most)})
		}
	}
	return list
}
