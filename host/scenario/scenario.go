package scenario

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "write the output of testdata anew; commit it only if you can explain every line")

// Run runs every script of testdata; start begins one and gives what executes its commands.
func Run(t *testing.T, start func() (exec func(command string) string)) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			recorded, err := os.ReadFile(path)
			require.NoError(t, err)
			got := Replay(string(recorded), start())
			if *Update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
				return
			}
			require.Equal(t, string(recorded), got)
		})
	}
}

// Replay runs the commands of a script and gives it with the output of now.
func Replay(script string, exec func(command string) string) string {
	var b strings.Builder
	output := false
	for line := range strings.Lines(script) {
		text := strings.TrimRight(line, "\n")
		switch {
		case output:
			if output = text != ""; !output {
				b.WriteString("\n")
			}
		case text == "----":
			output = true
		case text == "" || strings.HasPrefix(text, "#"):
			b.WriteString(line)
		default:
			fmt.Fprintf(&b, "%s\n----\n%s", text, exec(text))
		}
	}
	return b.String()
}
