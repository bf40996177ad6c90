package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// helpColumns is the text width of pages in a terminal.
const helpColumns = 78

var (
	mdLink = regexp.MustCompile(`!?\[([^]]*)\]\([^)]*\)`)
	mdItem = regexp.MustCompile(`^( *)([-*] |[0-9]+\. )`)
)

// plainText renders the headings, paragraphs, lists, tables and code of Markdown for a terminal.
func plainText(page string) string {
	var p plain
	for line := range strings.Lines(page) {
		p.line(strings.TrimRight(line, "\n"))
	}
	p.flush()
	return p.out.String()
}

// plain collects the lines of a paragraph or table until it is complete.
type plain struct {
	out   strings.Builder
	code  bool
	words []string
	first string // indentation of the paragraph's first line, including a list marker
	rows  [][]string
}

func (p *plain) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "```"):
		p.flush()
		p.code = !p.code
	case p.code:
		p.put("    " + line)
	case strings.HasPrefix(trimmed, "<!--"):
	case trimmed == "":
		p.flush()
		p.put("")
	case strings.HasPrefix(line, "#"):
		p.flush()
		p.put(strings.ToUpper(inline(strings.TrimLeft(line, "# "))))
	case strings.HasPrefix(trimmed, "|"):
		p.row(trimmed)
	default:
		p.prose(line)
	}
}

func (p *plain) put(line string) { p.out.WriteString(strings.TrimRight(line, " ") + "\n") }

func (p *plain) row(line string) {
	cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(inline(strings.TrimSpace(c)), "\x00", "|")
	}
	if strings.Trim(strings.Join(cells, ""), "-: ") != "" {
		p.rows = append(p.rows, cells)
	}
}

func (p *plain) prose(line string) {
	if mark := mdItem.FindString(line); mark != "" {
		p.flush()
		p.first = mark
		line = line[len(mark):]
	}
	p.words = append(p.words, strings.Fields(line)...)
}

// flush ends a paragraph or a table.
func (p *plain) flush() {
	if len(p.words) > 0 {
		hang := strings.Repeat(" ", len(p.first))
		// A link may span lines, so links are parsed in the whole paragraph.
		text := inline(strings.Join(p.words, " "))
		for i, line := range fold(text, helpColumns-len(hang)) {
			if i == 0 {
				p.put(p.first + line)
			} else {
				p.put(hang + line)
			}
		}
	}
	p.table()
	p.words, p.first, p.rows = nil, "", nil
}

// table prints aligned columns and folds wide cells.
func (p *plain) table() {
	if len(p.rows) == 0 {
		return
	}
	widths := columnWidths(p.rows)
	for _, row := range p.rows {
		var folded [][]string
		lines := 0
		for i, cell := range row {
			folded = append(folded, fold(cell, widths[i]))
			lines = max(lines, len(folded[i]))
		}
		for l := range lines {
			var b strings.Builder
			b.WriteString("  ")
			for i, cell := range folded {
				text := ""
				if l < len(cell) {
					text = cell[l]
				}
				b.WriteString(text + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text))+2))
			}
			p.put(b.String())
		}
	}
}

// columnWidths narrows the widest columns until a table fits.
func columnWidths(rows [][]string) (widths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for {
		total, widest := 2, 0
		for i, w := range widths {
			total += w + 2
			if w > widths[widest] {
				widest = i
			}
		}
		if total <= helpColumns || widths[widest] <= 8 {
			return widths
		}
		widths[widest]--
	}
}

// fold breaks text at spaces into lines of at most width characters.
func fold(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// inline removes link targets, emphasis and code marks.
func inline(text string) string {
	text = mdLink.ReplaceAllString(text, "$1")
	return strings.NewReplacer("**", "", "`", "").Replace(text)
}
