package sharedmem

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// Pages lie in a file and the rest where it was; a second file replaces the first.
func TestLay(t *testing.T) {
	if !Supported {
		t.Skip("Linux only")
	}
	mem, err := New(4*pageBytes - 100)
	require.NoError(t, err)
	defer Free(mem)
	require.Len(t, mem, 4*pageBytes-100)
	for i := range mem {
		mem[i] = 1
	}
	file := func(fill byte) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		page := make([]byte, 2*pageBytes)
		for i := range page {
			page[i] = fill
		}
		_, err = f.Write(page)
		require.NoError(t, err)
		return f
	}
	a, b := file(7), file(9)
	require.NoError(t, Lay(mem, pageBytes, 2*pageBytes, a, 0))
	require.Equal(t, []byte{1, 7, 7, 1}, []byte{mem[pageBytes-1], mem[pageBytes], mem[3*pageBytes-1], mem[3*pageBytes]})
	mem[pageBytes+5] = 42
	var one [1]byte
	_, err = a.ReadAt(one[:], 5)
	require.NoError(t, err)
	require.Equal(t, byte(42), one[0])
	require.NoError(t, Lay(mem, pageBytes, 2*pageBytes, b, 0))
	require.Equal(t, byte(9), mem[pageBytes+5])
	_, err = b.WriteAt([]byte{11}, pageBytes)
	require.NoError(t, err)
	require.NoError(t, Lay(mem, 0, pageBytes, b, pageBytes))
	require.Equal(t, []byte{11, 9, 9}, []byte{mem[0], mem[1], mem[pageBytes]}, "its second page")
	require.ErrorIs(t, Lay(mem, 0, pageBytes, b, 2*pageBytes), drivers.ErrConfig)
	require.ErrorIs(t, Lay(mem, 0, pageBytes, b, 100), drivers.ErrConfig)

	for _, c := range [][2]uint64{{1, pageBytes}, {0, 0}, {0, 100}, {0, 8 * pageBytes}, {^uint64(0) &^ 4095, pageBytes}, {0, 3 * pageBytes}} {
		require.ErrorIs(t, Lay(mem, c[0], c[1], a, 0), drivers.ErrConfig, "%v", c)
	}
}

// Nobody who has the file can take memory from those that have mapped it.
func TestFileKeepsItsLength(t *testing.T) {
	if !Supported {
		t.Skip("Linux only")
	}
	f, err := File(2 * pageBytes)
	require.NoError(t, err)
	defer f.Close()
	require.Error(t, f.Truncate(0))
	require.Error(t, f.Truncate(pageBytes))
	require.Error(t, f.Truncate(4*pageBytes))
	mem, err := Map(f, 2*pageBytes)
	require.NoError(t, err)
	defer Free(mem)
	require.Len(t, mem, 2*pageBytes)
	for _, n := range []uint64{0, 3 * pageBytes, 1 << 62} {
		_, err = Map(f, n)
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
}
