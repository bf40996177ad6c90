package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/runs"
	"github.com/stretchr/testify/require"
)

// standIn ends as its commit says, as a nicloop that runs one test does.
const standIn = `package main

import "os"

func main() {
	os.Mkdir("out", 0o755)
	os.WriteFile("out/results.xml", []byte("<testsuite><testcase/></testsuite>"), 0o644)
	os.Exit(%d)
}
`

// TestBisect: from where the test passed last, by the memory of runs, to the commit that broke it.
func TestBisect(t *testing.T) {
	if testing.Short() {
		t.Skip("bench/bisect has a short one")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	git("config", "user.name", "a")
	git("config", "user.email", "a@b")
	require.NoError(t, os.WriteFile(".gitignore", []byte("*.db\n"), 0o644))
	require.NoError(t, os.WriteFile("go.mod", []byte("module x\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.MkdirAll("cmd/nicloop", 0o755))
	var ids []string
	for i, code := range []int{0, 0, 1, 1} {
		require.NoError(t, os.WriteFile(filepath.Join("cmd/nicloop", "main.go"), fmt.Appendf(nil, standIn+"\n// %d\n", code, i), 0o644))
		git("add", ".")
		git("commit", "--quiet", "-m", fmt.Sprintf("commit %d", i))
		ids = append(ids, git("rev-parse", "HEAD"))
	}
	call := func(args ...string) (string, string, int) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), append([]string{"bisect", "x/one", "--device", "model:", "--db", "m.db"}, args...), strings.NewReader(""), &out, &errOut)
		return out.String(), errOut.String(), code
	}
	_, said, code := call()
	require.Equal(t, exitUsage, code, said)
	store := runs.At("m.db")
	id, err := store.Begin(runs.Run{Verb: "regress", Device: "model:", Commit: ids[0], Began: time.Now()})
	require.NoError(t, err)
	_, err = store.Add(id, []runs.Record{{Test: "x/one", Seed: 1, Device: "model:", Status: "PASS"}})
	require.NoError(t, err)

	out, said, code := call("--json")
	require.Equal(t, exitOK, code, said)
	checkDocument(t, "bisect", "bisection", []byte(out))
	require.Contains(t, out, `"`+ids[2]+`"`)
	out, said, code = call()
	require.Equal(t, exitOK, code, said)
	require.Equal(t, "x/one: the first bad commit is "+ids[2]+" commit 2\n", out)
	require.Contains(t, said, "good "+ids[1][:10]+" commit 1")
	_, said, code = call("--seed", "2")
	require.Equal(t, exitUsage, code)
	require.Contains(t, said, "has no commit at which x/one passed on model: with seed 2: specify one with --good")
	_, _, code = call("--bad", "nothing")
	require.Equal(t, exitUsage, code)
	_, _, code = call("--timeout", "1ms")
	require.Equal(t, exitStopped, code)
	require.Equal(t, exitUsage, run(t.Context(), []string{"bisect", "x/one", "--device", "foo:"}, strings.NewReader(""), io.Discard, io.Discard))
	require.Empty(t, git("status", "--porcelain"))
	require.Equal(t, 0, strings.Count(git("worktree", "list"), "\n"))
}
