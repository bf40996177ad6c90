package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPattern: byte i is byte i%8 of word i/8, whatever the length is, and each is verified.
func TestPattern(t *testing.T) {
	for n := range 40 {
		got, want := make([]byte, n), make([]byte, n)
		x := pattern(3, 1, 2, 9)
		var word uint64
		for i := range want {
			if i%8 == 0 {
				word = mix(&x)
			}
			want[i] = byte(word >> (i % 8 * 8))
		}
		fill(got, 3, 1, 2, 9)
		require.Equal(t, want, got)
		require.NoError(t, verify(got, 3, 1, 2, 9))
		for i := range got {
			got[i] ^= 0x10
			var m *MismatchError
			require.ErrorAs(t, verify(got, 3, 1, 2, 9), &m)
			require.Equal(t, MismatchError{From: 1, To: 2, Message: 9, Offset: i, Got: got[i], Want: want[i], Seed: 3, Bytes: len(got)}, *m)
			got[i] ^= 0x10
		}
	}
}
