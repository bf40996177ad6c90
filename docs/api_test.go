package docs

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// What go doc prints of a package that programs import fits on a screen.
func TestAPIOnAScreen(t *testing.T) {
	const screen = 60
	for _, name := range []string{"drivers", "velo", "rma", "host/world"} {
		text, err := exec.Command("go", "doc", "github.com/nicloop/nicloop/"+name).Output()
		require.NoError(t, err, name)
		require.LessOrEqual(t, bytes.Count(text, []byte("\n")), screen, "%s", name)
	}
}
