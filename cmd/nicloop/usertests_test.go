package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/stretchr/testify/require"
)

// A baseline of cycles is valid wherever the description lies, but of one design and its keys.
func TestBaselineKind(t *testing.T) {
	require.Equal(t, "design:dma.yaml", baselineKind("design:/home/me/dma/dma.yaml"))
	require.Equal(t, baselineKind("design:rtl/dma.yaml?stall=64"), baselineKind("design:dma.yaml?stall=64"))
	require.NotEqual(t, baselineKind("design:dma.yaml"), baselineKind("design:dma.yaml?stall=64"))
	require.Equal(t, "rtl:", baselineKind("rtl:"))
}

// regressIn runs nicloop regress, where a program of tests would be executed, and returns the
// program and its arguments.
func regressIn(t *testing.T, args ...string) (program string, code int, out string) {
	t.Helper()
	before := execute
	t.Cleanup(func() { execute = before })
	execute = func(name string, _, _ []string) error {
		program = name
		return errors.New("executed")
	}
	var text bytes.Buffer
	code = run(context.Background(), append([]string{"regress"}, args...), nil, &text, &text)
	return program, code, text.String()
}

// The tests of a design are those of its key, of --tests, or the NIC's; mistakes are usage errors.
func TestUserTests(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	description := "top: t\nsources: [t.v]\nclocks: {clk: 4ns}\nregisters: {bus: s_axil}\n"
	require.NoError(t, os.WriteFile("mine.yaml", []byte(description+"tests: tests\n"), 0o666))

	_, code, out := regressIn(t, "--new", "dma/my-test", "--device", "design:mine.yaml")
	require.Equal(t, exitOK, code, out)
	require.Contains(t, out, "run it: nicloop regress dma/my-test --tests tests --device design:mine.yaml")
	require.FileExists(t, filepath.Join("tests", "dma-my-test.go"))
	_, code, out = regressIn(t, "--new", "dma/other", "--tests", "tests")
	require.Equal(t, exitOK, code, out)
	require.Contains(t, out, "--device design:mine.yaml", "the design that names the folder")

	_, code, out = regressIn(t, "--tests", "none")
	require.Equal(t, exitUsage, code, out)
	require.NoError(t, os.Mkdir("empty", 0o777))
	_, code, out = regressIn(t, "--tests", "empty")
	require.Equal(t, exitUsage, code, out)
	if testing.Short() {
		return
	}
	for _, args := range [][]string{{"--tests", "tests"}, {"--device", "design:mine.yaml"}} {
		program, _, out := regressIn(t, args...)
		require.FileExists(t, program, out)
	}
}

// A program of tests runs only those that are linked into it.
func TestUserTestsOfProgram(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	userTests = dir
	t.Cleanup(func() { userTests = "" })
	_, code, out := regressIn(t, "--device", "model:")
	require.Equal(t, exitUsage, code, out)
	require.Contains(t, out, "no test is added: call regress.Add in an init function")
	_, code, out = regressIn(t, "--device", "model:", "--tests", t.TempDir())
	require.Equal(t, exitUsage, code, out)
	require.Contains(t, out, "this program has the tests of "+dir)
}

// A task of a cluster runs the tests of this program, although the description of the design names
// other ones.
func TestTaskOfUserTests(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("tests", 0o777))
	description := "top: t\nsources: [t.v]\nclocks: {clk: 4ns}\nregisters: {bus: s_axil}\ntests: others\n"
	require.NoError(t, os.WriteFile("mine.yaml", []byte(description), 0o666))
	userTests = filepath.Join(dir, "tests")
	t.Cleanup(func() { userTests = "" })
	task := taskOf(&regress.Outcome{Test: regress.Test{Name: "mine/test"}, Device: "design:mine.yaml", Seed: 1, Dir: filepath.Join(dir, "out")},
		&regress.Options{Timeout: time.Minute}, "")
	require.Equal(t, "regress", task.Args[0])
	_, code, out := regressIn(t, task.Args[1:]...)
	require.Equal(t, exitUsage, code, out)
	require.Contains(t, out, "no test is added", "the tests of the program were selected: it has none here")
}
