package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What docs/architecture.md names is there.
func TestArchitectureNamesFiles(t *testing.T) {
	const docs = "../../docs"
	text, err := os.ReadFile(filepath.Join(docs, "architecture.md"))
	require.NoError(t, err)
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllSubmatch(text, -1)
	require.Greater(t, len(links), 30)
	for _, l := range links {
		require.FileExists(t, filepath.Join(docs, string(l[1])))
	}
}
