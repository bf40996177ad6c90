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

// TestRecall: what it names it writes again, whether of this iteration or the next; one wrong bit,
// and it knows nothing.
func TestRecall(t *testing.T) {
	x := &recall{seed: 7, self: 2, k: 4}
	for _, n := range []int{1, 7, 8, 9, 64, 2045, 2048} {
		for _, k := range []int{4, 5} {
			b, again := make([]byte, n), make([]byte, n)
			fill(b, 7, 3, 2, k)
			name, ok := x.Name(3, b)
			require.True(t, ok)
			x.Write(3, name, again)
			require.Equal(t, b, again)
			if n < 8 {
				continue // others may begin with the same byte
			}
			for _, from := range []int{2, 4} {
				_, ok = x.Name(from, b)
				require.False(t, ok)
			}
			for _, at := range []int{0, n / 2, n - 1} {
				b[at] ^= 4
				_, ok = x.Name(3, b)
				require.False(t, ok, "byte %d of %d", at, n)
				b[at] ^= 4
			}
			x.k = 3 + 4*(k-4) // 4 is the next one's, 5 is over: neither may be taken for what it is not
			_, ok = x.Name(3, b)
			require.Equal(t, k == 4, ok)
			x.k = 4
		}
	}
}
