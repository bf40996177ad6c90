package usertests

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// userModule writes a module with a test that passes on the model.
func userModule(t *testing.T) (root, tests string) {
	t.Helper()
	root = t.TempDir()
	tests = filepath.Join(root, "internal", "tests")
	_, err := New(tests, "mine/arrives", nil)
	require.NoError(t, err)
	_, required, err := EnsureModule(root)
	require.NoError(t, err)
	require.True(t, required)
	return root, tests
}

// The program runs the tests of the user's package, and of no other; the module is as it was.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("links two programs")
	}
	root, tests := userModule(t)
	program, err := Build(context.Background(), tests, nil)
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(program)) })
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, append([]string{"regress", "--device", "model:", "--db", ""}, args...)...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run()
	require.NoError(t, err, out)
	require.Contains(t, out, "1 passed, 0 failed")
	require.Contains(t, out, "mine/arrives")
	out, err = run("--list")
	require.NoError(t, err, out)
	require.NotContains(t, out, "velo/")

	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"go.mod", "internal"}, names)

	broken := filepath.Join(tests, "broken.go")
	require.NoError(t, os.WriteFile(broken, []byte("package tests\n\nvar x int = true\n"), 0o666))
	_, err = Build(context.Background(), tests, nil)
	var wrong *CompileError
	require.True(t, errors.As(err, &wrong), "%v", err)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "broken.go:3:13")
	out, err = run()
	require.NoError(t, err, "the program of the last build stays: %s", out)
}

// The tests of the example pass: no other build covers a module of its own.
func TestExample(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	example, err := filepath.Abs("../../rtl/examples/dma/tests")
	require.NoError(t, err)
	program, err := Build(context.Background(), example, nil)
	require.NoError(t, err)
	out, err := exec.Command(program, "regress", "--list", "--device", "model:", "--db", "").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "dma/copy")
	require.Contains(t, string(out), "dma/outside")
	if _, err := exec.LookPath("verilator"); err != nil {
		t.Skip("no simulator here: ", err)
	}
	cmd := exec.Command(program, "regress", "--tests", example, "--db", "") // on the design that names the folder
	cmd.Dir = t.TempDir()
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "2 passed, 0 failed")
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := Folder(file)
	require.ErrorContains(t, err, "is a file: expected the folder of a Go package")
	_, err = Folder(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, drivers.ErrConfig)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	real, err := Folder(link)
	require.NoError(t, err)
	direct, err := Folder(dir)
	require.NoError(t, err)
	require.Equal(t, direct, real)
}

// Packages that cannot be linked are named before anything is compiled.
func TestWrongPackages(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n"), 0o666))
	for text, expected := range map[string]string{
		"package tests\n": "does not require nicloop: run `go get github.com/nicloop/nicloop` there",
		"package main\n":  "is a package main: expected a package that nicloop can import",
		"packag tests\n":  "a.go:1:1: expected 'package'",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		_, err := Build(context.Background(), dir, nil)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, expected)
	}
}

func TestSweep(t *testing.T) {
	cache := t.TempDir()
	for name, age := range map[string]time.Duration{"old": 40 * 24 * time.Hour, "new": time.Hour} {
		require.NoError(t, os.Mkdir(filepath.Join(cache, name), 0o777))
		file := filepath.Join(cache, name, "nicloop")
		require.NoError(t, os.WriteFile(file, nil, 0o777))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(file, then, then))
	}
	sweep(cache, time.Now().Add(-unusedFor))
	require.NoDirExists(t, filepath.Join(cache, "old"))
	require.DirExists(t, filepath.Join(cache, "new"))
}
