package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/runs"
)

func TestPrintable(t *testing.T) {
	require.Equal(t, "a\tb\nü", printable("a\tb\nü"))
	require.Equal(t, `\x1b[2Jx\x07\x9b\x7f\x0d`, printable("\x1b[2Jx\a\u009b\x7f\r"))
}

// TestRunsArePrintable: a record of a run cannot control the terminal.
func TestRunsArePrintable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	_, err := runs.At(file).Begin(runs.Run{Verb: "regress", Device: "model:\x1b[2J", Dir: "\x1b]0;title\a", Began: time.Now()})
	require.NoError(t, err)
	for _, verb := range []string{"list", "show"} {
		var out, errOut bytes.Buffer
		require.Equal(t, exitOK, run(context.Background(), []string{"runs", verb, "--db", file}, nil, &out, &errOut), errOut.String())
		require.NotContains(t, out.String(), "\x1b", verb)
		require.Contains(t, out.String(), `model:\x1b[2J`, verb)
	}
	var errOut bytes.Buffer
	run(context.Background(), []string{"device", "log", "no\x1b[2Jfile"}, nil, io.Discard, &errOut)
	require.NotContains(t, errOut.String(), "\x1b")
}
