package main

import (
	"fmt"
	"regexp"
	"strings"
)

// cellMost is the number of characters that a table cell of a document for people may have.
const cellMost = 80

var (
	fence   = regexp.MustCompile("^ *(```|~~~)")
	bullet  = regexp.MustCompile(`^( *)([-*+] +|[0-9]+[.)] +)`)
	notText = regexp.MustCompile(`^ *(\||#|<|>|---|===|!\[|\[[^]]+\]: )`)
)

// kinds tells of every line of a Markdown text whether it is prose, a table's row, or else "".
func kinds(lines []string) []string {
	list := make([]string, len(lines))
	inside, inList := false, false
	for i, line := range lines {
		switch {
		case fence.MatchString(line):
			inside = !inside
		case inside || strings.TrimSpace(line) == "":
		case strings.HasPrefix(strings.TrimSpace(line), "|"):
			list[i] = "row"
		case notText.MatchString(line):
		case strings.HasPrefix(line, "    ") && !inList && !bullet.MatchString(line):
		default:
			inList = bullet.MatchString(line) || inList && strings.HasPrefix(line, " ") ||
				inList && i > 0 && list[i-1] == "prose"
			list[i] = "prose"
		}
	}
	return list
}

// wrapMarkdown wraps the paragraphs that have a line beyond the limit.
func wrapMarkdown(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	kind := kinds(lines)
	var out []string
	for i := 0; i < len(lines); {
		if kind[i] != "prose" {
			out = append(out, lines[i])
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && kind[end] == "prose" && !bullet.MatchString(lines[end]) &&
			!strings.HasSuffix(lines[end-1], "  ") && !strings.HasSuffix(lines[end-1], `\`) {
			end++
		}
		out = append(out, wrapParagraph(lines[i:end])...)
		i = end
	}
	return []byte(strings.Join(out, "\n"))
}

func wrapParagraph(lines []string) []string {
	long := false
	for _, line := range lines {
		long = long || columns(line) > most
	}
	if !long {
		return lines
	}
	first := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	if mark := bullet.FindString(lines[0]); mark != "" {
		first = mark
	}
	rest := strings.Repeat(" ", len(first))
	words := split(strings.TrimPrefix(strings.Join(lines, "\n"), first))
	return fill(words, first, rest)
}

func checkMarkdown(name string, text []byte) (list []finding) {
	lines := strings.Split(string(text), "\n")
	for i, kind := range kinds(lines) {
		switch line := lines[i]; {
		case kind == "prose" && columns(line) > most && breakable(bullet.FindString(line), line):
			list = append(list, finding{i + 1, fmt.Sprintf("%d columns, at most %d", columns(line), most)})
		case kind == "row" && forPeople(name):
			for _, cell := range strings.Split(strings.ReplaceAll(line, `\|`, "¦"), "|") {
				if n := columns(visible(strings.TrimSpace(cell))); n > cellMost {
					list = append(list, finding{i + 1, fmt.Sprintf("a cell of %d characters, at most %d", n, cellMost)})
				}
			}
		}
	}
	return list
}

// forPeople reports whether a document's tables must be narrow: the guides, and not decisions,
// which are records of their time.
func forPeople(name string) bool {
	return name == "README.md" || strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "docs/decisions/")
}

var link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// visible is what a reader sees of a cell: of links only the text.
func visible(cell string) string { return link.ReplaceAllString(cell, "$1") }
