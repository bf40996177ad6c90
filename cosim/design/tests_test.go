package design_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/cosim/design"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

const described = "top: t\nsources: [t.v]\nclocks: {clk: 4ns}\nregisters: {bus: s_axil}\n"

func TestTestedBy(t *testing.T) {
	dir := t.TempDir()
	tests := filepath.Join(dir, "tests")
	require.NoError(t, os.Mkdir(tests, 0o777))
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		return file
	}
	write("registers.yaml", "name: t\nregisters: {}\n")
	write("other.yaml", described)
	file, err := design.TestedBy(tests)
	require.NoError(t, err)
	require.Empty(t, file)

	mine := write("mine.yaml", described+"tests: ./tests\n")
	file, err = design.TestedBy(tests)
	require.NoError(t, err)
	require.Equal(t, mine, filepath.Clean(file))
	d, err := design.Load(mine)
	require.NoError(t, err)
	require.Equal(t, tests, d.TestsDir())

	require.NoError(t, os.Mkdir(filepath.Join(dir, "rtl"), 0o777))
	write("rtl/second.yaml", described+"tests: ../tests\n")
	_, err = design.TestedBy(tests)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "second.yaml: select one with --device")
}
