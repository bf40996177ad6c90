package path

import (
	"flag"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/host/match"
	"github.com/stretchr/testify/require"
)

var seed = flag.Int64("seed", 1, "seed of random tests")

// TestHeapAgainstNaive allocates and frees at random: pieces never overlap, and
// once all are back the heap is whole again.
func TestHeapAgainstNaive(t *testing.T) {
	rnd := rand.New(rand.NewSource(*seed))
	const base, size = 1000, 1 << 16
	h := newHeap(base, size)
	whole := h.pieces[0]
	live := map[uint64]uint64{}
	for range 5000 {
		if rnd.Intn(2) == 0 {
			n := uint64(rnd.Intn(5000))
			at, err := h.alloc(n)
			if err != nil {
				continue
			}
			require.Zero(t, at%HeapAlign)
			require.GreaterOrEqual(t, at, uint64(base))
			require.LessOrEqual(t, at+n, uint64(base+size))
			for a, m := range live {
				require.True(t, at+max(n, 1) <= a || a+max(m, 1) <= at, "overlap (reproduce with: go test ./host/path -seed %d)", *seed)
			}
			live[at] = n
			continue
		}
		for at, n := range live {
			h.free(at, n)
			delete(live, at)
			break
		}
	}
	for at, n := range live {
		h.free(at, n)
	}
	require.Equal(t, []piece{whole}, h.pieces)
}

func TestLocate(t *testing.T) {
	mem := make([]byte, 100)
	at, ok := locate(mem, mem[40:60])
	require.True(t, ok)
	require.EqualValues(t, 40, at)
	_, ok = locate(mem, make([]byte, 10))
	require.False(t, ok)
	_, ok = locate(mem[:50], mem[40:60])
	require.False(t, ok)
}

func FuzzHeader(f *testing.F) {
	b := make([]byte, HeaderBytes)
	Header{Tag: 5, Length: 100, Seq: 7, Comm: 1}.Put(b)
	f.Add(b)
	b = make([]byte, HeaderBytes+extensionBytes)
	Header{Tag: 5, Length: 100, Seq: 7, Comm: 1}.Put(b)
	putExtension(b, &match.Envelope{High: 3, Bits: 1 << 40})
	f.Add(b)
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHeader(1, b)
		if err != nil {
			return
		}
		w, body, err := parseExtension(1, b)
		if err != nil {
			return
		}
		out := make([]byte, len(b)-len(body))
		h.Put(out)
		if w.Set {
			putExtension(out, &match.Envelope{High: w.High, Bits: w.Data})
		}
		require.Equal(t, b[:len(b)-len(body)], out)
	})
}
