// Package docs holds the pages of the book, as `nicloop help TOPIC` prints them.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var pages embed.FS

// A Topic is a page by its name, which is that of its file, with its title.
type Topic struct{ Name, Title string }

// order is that of the pages in docs/README.md.
var order = []string{
	"getting-started", "writing-a-test", "debugging", "board", "your-own-rtl", "sweeps", "mpi", "portals", "iwarp",
	"first-program", "go-api",
	"reproductions", "architecture", "glossary", "status", "limits", "performance", "json",
}

// Topics lists the pages.
func Topics() []Topic {
	list := make([]Topic, 0, len(order))
	for _, name := range order {
		text, _ := Page(name)
		title, _, _ := strings.Cut(text, "\n")
		list = append(list, Topic{name, strings.ReplaceAll(strings.TrimPrefix(title, "# "), "`", "")})
	}
	return list
}

// Page returns the Markdown of a topic.
func Page(name string) (string, bool) {
	text, err := pages.ReadFile(name + ".md")
	return string(text), err == nil
}
