package usertests

import (
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/stretchr/testify/require"
)

func mapOf(list ...regmap.Register) *regmap.Map { return regmap.New("dma", 1, list) }

// A skeleton is formatted Go, in the package of the folder, and overwrites nothing.
func TestNew(t *testing.T) {
	for name, m := range map[string]*regmap.Map{
		"velo/my-test": nil,
		"dma/my-test":  mapOf(regmap.Register{Name: "CTRL", Count: 1}, regmap.Register{Name: "ID", Count: 1, Access: regmap.RO, Reset: 7}),
		"dma/copy":     mapOf(),
	} {
		dir := filepath.Join(t.TempDir(), "below", "tests")
		file, err := New(dir, name, m)
		require.NoError(t, err)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		formatted, err := format.Source(text)
		require.NoError(t, err)
		require.Equal(t, string(formatted), string(text))
		require.Contains(t, string(text), `Name: "`+name+`"`)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		require.Equal(t, "tests", parsed.Name.Name)
		_, err = New(dir, name, m)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, "exists: choose another name")
	}
}

func TestNewInPackage(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.go")
	require.NoError(t, os.WriteFile(other, []byte("package mydma\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte("package mydma_test\n"), 0o666))
	file, err := New(dir, "dma/my-test", mapOf())
	require.NoError(t, err)
	require.Equal(t, "dma-my-test.go", filepath.Base(file)) // the go command ignores dma_my_test.go
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "package mydma\n")
	require.NoError(t, os.WriteFile(other, []byte("package main\n"), 0o666))
	require.NoError(t, os.Remove(file))
	_, err = New(dir, "dma/my-test", mapOf())
	require.ErrorContains(t, err, "is a package main")
	for _, name := range []string{"", "copy", "DMA/copy", "dma/", "dma/copy/list", "dma/copy_list", "../copy", "dma/-x"} {
		_, err := New(dir, name, mapOf())
		require.ErrorIs(t, err, drivers.ErrConfig, name)
	}
}

// The first access of a skeleton passes on a design that works: it expects the reset value of a
// register that software cannot change.
func TestFirstAccess(t *testing.T) {
	id := regmap.Register{Name: "ID", Count: 4, Access: regmap.RO, Reset: 0x1234}
	ticks := regmap.Register{Name: "TICKS", Count: 1, Access: regmap.RO, Reset: 5, Volatile: true}
	ctrl := regmap.Register{Name: "CTRL", Count: 1, Access: regmap.RW, Reset: 1}
	require.Equal(t, `return node.Expect("ID[0]", 0x1234)`, firstAccess(mapOf(ticks, ctrl, id)))
	require.Contains(t, firstAccess(mapOf(ctrl, ticks)), `node.Get("CTRL")`)
	require.Contains(t, firstAccess(mapOf(regmap.Register{Name: "SIM_IRQ_LEVEL", Count: 1, Access: regmap.RO})), `node.Get("0x0")`)
}

func TestEnsureModule(t *testing.T) {
	dir := t.TempDir()
	file, required, err := EnsureModule(dir)
	require.NoError(t, err)
	require.True(t, required, "this test runs in a checkout")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "replace github.com/nicloop/nicloop => ")
	below := filepath.Join(dir, "tests")
	require.NoError(t, os.Mkdir(below, 0o777))
	file, required, err = EnsureModule(below)
	require.NoError(t, err)
	require.Empty(t, file)
	require.True(t, required)
}
