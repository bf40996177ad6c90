package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is the width of a line in characters, a tab being one, as editors count them.
func columns(line string) int { return utf8.RuneCountInString(line) }

// fill wraps words into lines that begin with first, then with rest.
func fill(words []string, first, rest string) []string {
	var lines []string
	line, filled := first, false
	for i, word := range words {
		// A word that would begin a list, a heading or a table stays behind the one before it, so
		// the line breaks before both.
		joined := word
		for k := i + 1; k < len(words) && startsBlock.MatchString(words[k]); k++ {
			joined += " " + words[k]
		}
		if filled && columns(line)+1+columns(joined) > most && !startsBlock.MatchString(word) {
			lines = append(lines, line)
			line, filled = rest, false
		}
		if filled {
			line += " "
		}
		line += word
		filled = true
	}
	return append(lines, line)
}

// startsBlock matches words that begin something else than a paragraph where they begin a line.
var startsBlock = regexp.MustCompile(`^([-+*>|=]+|#+|[0-9]+[.)])$|^[>|]`)

// split cuts prose into words. Code between backticks, up to 60 columns, is one word.
func split(prose string) []string {
	var words []string
	open := "" // words since an unclosed backtick
	for _, word := range strings.Fields(prose) {
		if open != "" {
			word = open + " " + word
			open = ""
		}
		if strings.Count(word, "`")%2 == 1 && columns(word) < 60 {
			open = word
			continue
		}
		words = append(words, word)
	}
	if open != "" {
		words = append(words, strings.Fields(open)...)
	}
	return words
}

// breakable reports whether a line that is too long could be broken somewhere.
func breakable(prefix, line string) bool {
	rest := strings.TrimSpace(strings.TrimPrefix(line, prefix))
	return len(split(rest)) > 1
}
