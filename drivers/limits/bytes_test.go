package limits

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "8": 8, "-1": -1, "8k": 8 << 10, "8K": 8 << 10, "64KiB": 64 << 10, "64kb": 64 << 10, "1M": 1 << 20,
		"1MiB": 1 << 20, "3G": 3 << 30, "1024GiB": Bytes, "7B": 7,
	} {
		n, err := ParseBytes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "k", "8kk", "8iB", "8 k", "0x8", "1.5k", "8T", "B", "8ki"} {
		_, err := ParseBytes(text)
		require.ErrorContains(t, err, "expected a number of bytes", text)
	}
	for _, text := range []string{"1025G", "9223372036854775807", "9223372036854775808", "9223372036854775807k", "-1025GiB"} {
		_, err := ParseBytes(text)
		require.ErrorContains(t, err, text+": expected at most 1099511627776 bytes")
	}
}

// No text gives a number beyond the bound.
func FuzzParseBytes(f *testing.F) {
	f.Add("8k")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseBytes(text); err == nil {
			require.LessOrEqual(t, max(n, -n), Bytes)
		}
	})
}
