package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var long = strings.Repeat("word ", 30)

func TestMarkdownIsWrapped(t *testing.T) {
	text := "# " + long + "\n\n" + long + "\n\n- " + long + "\n  - " + long + "\n\n```\n" + long + "\n```\n| " + long + " |\n"
	wrapped := string(wrapMarkdown([]byte(text)))
	require.Equal(t, strings.Fields(text), strings.Fields(wrapped))
	lines := strings.Split(wrapped, "\n")
	require.Equal(t, "# "+long, lines[0])
	require.True(t, strings.HasPrefix(lines[6], "  word"), "a list item hangs: %q", lines[6])
	require.True(t, strings.HasPrefix(lines[8], "    word"), "so does one inside: %q", lines[8])
	require.Contains(t, wrapped, "```\n"+long+"\n```\n| "+long, "code and tables stay")
	require.Empty(t, checkMarkdown("rtl/README.md", []byte(wrapped)))
	require.NotEmpty(t, checkMarkdown("rtl/README.md", []byte(text)))
}

// A word that would begin a list or a heading never begins a line.
func TestNoLineBecomesAList(t *testing.T) {
	for _, mark := range []string{"-", "+", "#", "3.", "=", "|"} {
		for n := range 30 {
			text := strings.Repeat("x ", 36+n) + mark + " " + long
			for line := range strings.Lines(string(wrapMarkdown([]byte(text)))) {
				require.NotRegexp(t, startsBlock, strings.Fields(line)[0])
				require.LessOrEqual(t, columns(line), most+1)
			}
		}
	}
}

func TestCodeIsOneWord(t *testing.T) {
	require.Equal(t, []string{"a", "`go test ./...`,", "b"}, split("a `go test ./...`, b"))
}

func TestCellsAreNarrowInGuides(t *testing.T) {
	row := []byte("| " + strings.Repeat("x", 81) + " |\n")
	require.Len(t, checkMarkdown("docs/limits.md", row), 1)
	require.Empty(t, checkMarkdown("docs/decisions/0001-x.md", row))
	require.Empty(t, checkMarkdown("docs/limits.md", []byte("| [x]("+strings.Repeat("x", 90)+") |\n")))
}

func TestCommentsAreWrapped(t *testing.T) {
	c := commentLanguage{mark: "//", goes: true}
	text := "package p\n\n// " + long + "\n// behind it.\n//\n// Job: " + long + "\n//   more\n//\n//   - item " + long +
		"\n//\n//	code " + long + "\n//go:build " + long + "\nvar x = `\n// " + long + "\n` // " + long + "\n"
	wrapped := string(c.wrap([]byte(text)))
	require.Equal(t, strings.Fields(strings.ReplaceAll(text, "//", "")), strings.Fields(strings.ReplaceAll(wrapped, "//", "")))
	for _, kept := range []string{"//	code " + long, "//go:build " + long, "`\n// " + long + "\n` // " + long} {
		require.Contains(t, wrapped, kept)
	}
	require.Contains(t, wrapped, "\n//   word word", "what follows a label hangs")
	require.Contains(t, wrapped, "\n//     word word", "an item hangs")
	require.NotEmpty(t, c.check("", []byte(text)))
	require.Empty(t, c.check("", []byte(strings.Replace(wrapped, "//go:build "+long, "", 1))))
}
