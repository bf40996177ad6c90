package main

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRpingDocument lets both roles of iwarp rping talk to each other.
func TestRpingDocument(t *testing.T) {
	log, logged := io.Pipe()
	var served, out, errOut bytes.Buffer
	code := make(chan int, 1)
	go func() {
		args := strings.Fields("iwarp rping --server 127.0.0.1:0 --json")
		code <- run(t.Context(), args, strings.NewReader(""), &served, logged)
		_ = logged.Close()
	}()
	line, err := bufio.NewReader(log).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, log) }()
	at := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
	require.NotEmpty(t, at, line)
	args := []string{"iwarp", "rping", at, "--size", "1000", "--iterations", "3", "--json"}
	require.Equal(t, exitOK, run(t.Context(), args, strings.NewReader(""), &out, &errOut), errOut.String())
	require.Equal(t, exitOK, <-code)
	checkDocument(t, "iwarp rping", "iwarp_rping", out.Bytes())
	checkDocument(t, "iwarp rping --server", "iwarp_rping", served.Bytes())
	require.Contains(t, out.String(), `"verified_bytes": 3000`)
}
