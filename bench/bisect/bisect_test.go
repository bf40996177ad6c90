package bisect

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// stand replaces nicloop at a commit: its exit code and cycles are set by the commit.
const stand = `package main

import (
	"fmt"
	"os"
	"time"
)

const code, cycles = %d, %d

func main() {
	if len(os.Args) != 9 || os.Args[1] != "regress" || os.Args[2] != "x/one" || os.Args[4] != "model:" || os.Args[6] != "7" {
		fmt.Println(os.Args)
		os.Exit(2)
	}
	if code == 99 {
		time.Sleep(time.Minute)
	}
	os.Mkdir("out", 0o755)
	skipped := ""
	if code == 77 {
		skipped = "<skipped/>"
	}
	os.WriteFile("out/results.xml", fmt.Appendf(nil, "<testsuite><testcase>%%s<properties><property name='cycles' value='%%d'/></properties></testcase></testsuite>", skipped, cycles), 0o644)
	if code == 77 {
		return
	}
	if code != 0 {
		fmt.Println("FAIL x/one (seed 7)\n  it broke")
	}
	os.Exit(code)
}
`

// repository creates a git repository whose commits have the given exit codes and cycles; broken
// does not build.
func repository(t *testing.T, commits [][2]int) (dir string, ids []string) {
	dir = t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	run("init", "--quiet", "--initial-branch=main")
	run("config", "user.name", "a")
	run("config", "user.email", "a@b")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cmd/nicloop"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.26\n"), 0o644))
	for i, c := range commits {
		text := fmt.Sprintf(stand, c[0], c[1])
		if c[0] == broken {
			text = "package"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cmd/nicloop/main.go"), []byte(text), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), fmt.Append(nil, i), 0o644))
		run("add", ".")
		run("commit", "--quiet", "-m", fmt.Sprintf("commit %d", i))
		ids = append(ids, run("rev-parse", "HEAD"))
	}
	return dir, ids
}

const broken = 88

func options(dir string) Options {
	return Options{Repo: dir, Good: "HEAD~7", Bad: "HEAD", Test: "x/one", Device: "model:", Seed: 7}
}

// clean checks that no worktree and no branch is left and that the checkout is unchanged.
func clean(t *testing.T, dir string) {
	for _, c := range []struct {
		args []string
		want int
	}{{[]string{"worktree", "list"}, 1}, {[]string{"status", "--porcelain"}, 0}, {[]string{"for-each-ref", "refs/bisect"}, 0}} {
		cmd := exec.Command("git", c.args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Count(string(out), "\n"), "%s", out)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "nicloop-bisect-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("bisects several times")
	}
	t.Setenv("TMPDIR", t.TempDir())
	ok := [2]int{0, 100}
	for _, c := range []struct {
		name    string
		commits [][2]int
		slower  uint64
		want    []int
	}{
		{"a failure", [][2]int{ok, ok, ok, ok, ok, {1, 0}, {1, 0}, {1, 0}}, 0, []int{5}},
		{"a hang", [][2]int{ok, {4, 0}, {1, 0}, {4, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}}, 0, []int{1}},
		{"the newest", [][2]int{ok, ok, ok, ok, ok, ok, ok, {1, 0}}, 0, []int{7}},
		{"one cycle", [][2]int{ok, ok, ok, {0, 99}, ok, ok, {0, 101}, {0, 101}}, 100, []int{6}},
		{"commits that do not build", [][2]int{ok, ok, {broken, 0}, {broken, 0}, ok, {1, 0}, {1, 0}, {1, 0}}, 0, []int{5}},
		{"behind such", [][2]int{ok, ok, ok, {broken, 0}, {3, 0}, {77, 0}, {1, 0}, {1, 0}}, 0, []int{3, 4, 5, 6}},
	} {
		if testing.Short() && c.name != "one cycle" && c.name != "behind such" {
			continue // each builds several programs
		}
		t.Run(c.name, func(t *testing.T) {
			dir, ids := repository(t, c.commits)
			o := options(dir)
			o.SlowerThan = c.slower
			res, err := Run(t.Context(), o)
			require.NoError(t, err)
			var want []string
			for _, i := range c.want {
				want = append(want, ids[i])
			}
			require.ElementsMatch(t, want, res.Found)
			require.Equal(t, "commit 7", res.Trials[0].Subject)
			if c.slower == 0 {
				require.Equal(t, "it broke", res.Trials[0].Why)
			}
			clean(t, dir)
		})
	}
}

// A bisection of a user's tests runs them in the worktree, with a design of that commit.
func TestUserTests(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, ids := repository(t, [][2]int{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 0}, {1, 0}})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tests"), 0o755)) // the stand-in looks at n instead
	program := filepath.Join(t.TempDir(), "nicloop")
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
[ "$#" -eq 10 ] && [ "$2" = x/one ] && [ "$9" = --tests ] || exit 2
tree=$(dirname "${10}")
[ "$4" = "design:$tree/go.mod?stall=3" ] || { echo "device $4"; exit 2; }
mkdir out; echo '<testsuite><testcase/></testsuite>' >out/results.xml
[ "$(cat "$tree/n")" -lt 6 ] || { printf 'FAIL x/one (seed 7)\n  it broke\n'; exit 1; }
`), 0o755))
	o := options(dir)
	o.Tests, o.Program, o.Device = filepath.Join(dir, "tests"), program, "design:"+filepath.Join(dir, "go.mod")+"?stall=3"
	res, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []string{ids[6]}, res.Found)
	require.NoError(t, os.Remove(o.Tests))
	clean(t, dir)

	o.Tests = t.TempDir()
	_, err = Run(t.Context(), o)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "do not belong to the checkout")
	clean(t, dir)
}

func TestRefuses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ok := [2]int{0, 1}
	dir, _ := repository(t, [][2]int{ok, {1, 0}, ok, ok, ok, ok, ok, ok})
	for want, change := range map[string]func(*Options){
		"must be bad, and is good":           func(*Options) {},
		"must be good, and is bad: it broke": func(o *Options) { o.Bad, o.Good = "HEAD~6", "HEAD~6" },
		`no commit "nothing"`:                func(o *Options) { o.Good = "nothing" },
		"does not lie before":                func(o *Options) { o.Good, o.Bad = "HEAD", "HEAD~3" },
		"is skip: [":                         func(o *Options) { o.Test = "y/other" },
	} {
		o := options(dir)
		change(&o)
		_, err := Run(t.Context(), o)
		require.ErrorIs(t, err, drivers.ErrConfig, want)
		require.ErrorContains(t, err, want)
		clean(t, dir)
	}
	o := options(t.TempDir())
	_, err := Run(t.Context(), o)
	require.ErrorIs(t, err, drivers.ErrEnvironment, "no checkout")
}

func TestInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ok := [2]int{0, 1}
	dir, _ := repository(t, [][2]int{ok, ok, ok, ok, ok, ok, ok, {99, 0}})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := Run(ctx, options(dir))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	clean(t, dir)
}

// TestTemporariesOfAKilledBuild: go build is killed by a signal and cannot remove its files.
func TestTemporariesOfAKilledBuild(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := &search{temp: filepath.Join(temp, "nicloop-bisect-1")}
	require.NoError(t, os.Mkdir(s.temp, 0o700))
	_, err := s.command(t.Context(), temp, "sh", "-c", "touch $TMPDIR/a ${GOTMPDIR:-$TMPDIR}/b; kill -9 $$")
	require.Error(t, err)
	require.NoError(t, os.RemoveAll(s.temp)) // as clean does
	list, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, list)
}
