package libfabric

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// A short file cannot make its reader allocate gigabytes.
func TestComputeLogThatClaimsTooMuch(t *testing.T) {
	text := computeHeader + " 1\nrank 0 1\n1 5 z67108865\n"
	_, err := ReadComputeLog(strings.NewReader(text))
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "67108864 times in all")
	_, ok := parseEntry("1 5 z6 0 z3", 10)
	require.True(t, ok)
	for _, text := range []string{"1 5 z6 0 z4", "1 5 z10 0", "1 5 z11"} {
		_, ok := parseEntry(text, 10)
		require.False(t, ok, text)
	}
}

// Any text is a log or an error; a log is written as it was read.
func FuzzReadComputeLog(f *testing.F) {
	f.Add(computeHeader + " 1\nrank 0 2\n1 5 z3 7\n2 0\n")
	f.Add(computeHeader + " 2\nrank 0 1\n1 18446744073709551615\nrank 1 1\n4294967295 0 z9\n")
	f.Add(computeHeader + " 1\nrank 0 1\n1 5 z67108865\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadComputeLog(strings.NewReader(text))
		if err != nil {
			require.ErrorIs(t, err, drivers.ErrConfig)
			return
		}
		var once, twice strings.Builder
		_, err = l.WriteTo(&once)
		require.NoError(t, err)
		back, err := ReadComputeLog(strings.NewReader(once.String()))
		require.NoError(t, err)
		_, err = back.WriteTo(&twice)
		require.NoError(t, err)
		require.Equal(t, once.String(), twice.String())
	})
}
