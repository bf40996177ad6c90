package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServe starts the server as people do, reads what it prints, and ends it.
func TestServe(t *testing.T) {
	bin := t.TempDir()
	text, err := exec.Command("go", "build", "-o", bin, serverPackage).CombinedOutput()
	require.NoError(t, err, "%s", text)
	t.Chdir(t.TempDir())
	path := os.Getenv("PATH")
	var ignored strings.Builder
	require.Equal(t, exitUsage, run(t.Context(), []string{"serve"}, strings.NewReader(""), io.Discard, &ignored))
	require.Contains(t, ignored.String(), "run nicloop regress first")
	require.Equal(t, exitOK, run(t.Context(), []string{"regress", "velo/lengths", "--device", "model:"}, strings.NewReader(""), io.Discard, io.Discard))
	t.Setenv("PATH", "")
	require.Equal(t, exitEnvironment, run(t.Context(), []string{"serve"}, strings.NewReader(""), io.Discard, io.Discard), "no server, and nothing to build it")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
	t.Setenv("NICLOOP_TOKEN", "short")
	require.Equal(t, exitUsage, run(t.Context(), []string{"serve", "--listen", ":0"}, strings.NewReader(""), io.Discard, io.Discard))
	t.Setenv("NICLOOP_TOKEN", "")
	require.Equal(t, exitUsage, run(t.Context(), []string{"serve", "--listen", "8080"}, strings.NewReader(""), io.Discard, io.Discard))
	require.Equal(t, exitEnvironment, run(t.Context(), []string{"serve", "--listen", "192.0.2.1:1"}, strings.NewReader(""), io.Discard, io.Discard))

	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		ctx, stop := context.WithCancel(t.Context())
		reader, writer := io.Pipe()
		ended := make(chan int)
		go func() {
			ended <- run(ctx, []string{"serve", "--listen", listen}, strings.NewReader(""), writer, io.Discard)
		}()
		where, err := bufio.NewReader(reader).ReadString('\n')
		require.NoError(t, err)
		where = strings.TrimSpace(where)
		require.Equal(t, listen != "127.0.0.1:0", strings.Contains(where, "?token="), "who listens to others wants a token")
		if at := strings.Index(where, "?"); at > 0 { // the name of this machine need not be known here
			_, port, _ := strings.Cut(where[len("http://"):at-1], ":")
			where = "http://127.0.0.1:" + port + "/" + where[at:]
			got, err := http.Get("http://127.0.0.1:" + port + "/")
			require.NoError(t, err)
			require.NoError(t, got.Body.Close())
			require.Equal(t, http.StatusUnauthorized, got.StatusCode)
		}
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		got, err := (&http.Client{Jar: jar}).Get(where)
		require.NoError(t, err)
		text, err := io.ReadAll(got.Body)
		require.NoError(t, err)
		require.NoError(t, got.Body.Close())
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Contains(t, string(text), "velo/lengths")
		stop()
		require.Equal(t, exitOK, <-ended)
	}
}

// A folder that pretends to be the source of nicloop is not built: only what this program is made
// of.
func TestServeBuildsItsOwnSource(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("cmd/nicloop-serve", 0o755))
	for name, text := range map[string]string{
		"go.mod": "module github.com/nicloop/nicloop\n", "cmd/nicloop-serve/main.go": "package main\n\nfunc main() { println(\"planted\"); panic(1) }\n",
		"runs.db": "",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--db", "runs.db", "--listen", "127.0.0.1:0"}, strings.NewReader(""), writer, io.Discard)
		_ = writer.Close()
	}()
	where, err := bufio.NewReader(reader).ReadString('\n')
	stop()
	require.Equal(t, exitOK, <-ended)
	require.NoError(t, err)
	require.Contains(t, where, "http://127.0.0.1:")
}
