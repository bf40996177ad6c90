package main

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/nicloop/nicloop/bench"
	"github.com/stretchr/testify/require"
)

// TestBlame: of several programs that failed the user hears of the one that made the others fail,
// whichever ended first.
func TestBlame(t *testing.T) {
	ended := func(script string) error {
		err := exec.Command("sh", "-c", script).Run()
		var e *exec.ExitError
		require.ErrorAs(t, err, &e)
		return coded{1, &partError{&bench.Part{}, "", e}}
	}
	gone, itself, signal := ended(fmt.Sprint("exit ", exitPeerGone)), ended("exit 4"), ended("kill -9 $$")
	require.Greater(t, blame(itself), blame(gone))
	require.Greater(t, blame(signal), blame(itself))
}
