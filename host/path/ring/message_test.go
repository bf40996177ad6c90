package ring

import (
	"testing"

	"github.com/nicloop/nicloop/host/path"
	"github.com/stretchr/testify/require"
)

// Whatever a peer says about rings is decoded into the same bytes, or refused.
func FuzzWord(f *testing.F) {
	f.Add(uint8(path.Ring), make([]byte, wordBytes))
	f.Add(uint8(path.RingControl), []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		w, err := parseWord(1, path.Kind(kind), b)
		if err != nil {
			return
		}
		back := make([]byte, wordBytes)
		w.put(back)
		require.Equal(t, b, back)
	})
}
