package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestDims(t *testing.T) {
	for nodes, want := range map[int]string{
		1: "1x1x1", 2: "2x1x1", 3: "3x1x1", 4: "2x2x1", 6: "3x2x1", 7: "7x1x1", 8: "4x2x1", 9: "3x3x1",
		12: "4x3x1", 13: "13x1x1", 16: "4x4x1", 27: "9x3x1", 32: "8x4x1", 64: "4x4x4", 80: "5x4x4", 128: "8x4x4",
	} {
		require.Equal(t, want, FormatDims(DimsFor(nodes)), "%d nodes", nodes)
	}
	d, err := ParseDims("4x2")
	require.NoError(t, err)
	require.Equal(t, [3]int{4, 2, 1}, d)
	for _, bad := range []string{"", "4", "4x", "0x1", "2x-1x1", "1x2x3x4", "axb"} {
		_, err := ParseDims(bad)
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
	}
}

func TestURI(t *testing.T) {
	require.Equal(t, "rtl:?dims=4x2x1&vc_depth=8", URI("rtl", [3]int{4, 2, 1}, map[string]string{"vc_depth": "8", "dims": "4x2"}))
	require.Equal(t, "model:?topology=fattree", URI("model", [3]int{8, 1, 1}, map[string]string{"topology": "fattree"}))
}

func TestNumber(t *testing.T) {
	n, err := Number(map[string]string{"a": "7"}, "a", 1, 7, 3)
	require.NoError(t, err)
	require.Equal(t, 7, n)
	n, err = Number(nil, "a", 1, 7, 3)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	for _, bad := range []string{"", "0", "8", "x"} {
		_, err = Number(map[string]string{"a": bad}, "a", 1, 7, 3)
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
	}
}
