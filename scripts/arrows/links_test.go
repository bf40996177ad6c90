package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What docs/architecture.md and docs/glossary.md name is there.
func TestDocsNameFiles(t *testing.T) {
	const docs = "../../docs"
	for _, name := range []string{"architecture.md", "glossary.md"} {
		text, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllSubmatch(text, -1)
		require.Greater(t, len(links), 30, name)
		for _, l := range links {
			_, err := os.Stat(filepath.Join(docs, string(l[1])))
			require.NoError(t, err, name)
		}
	}
}
