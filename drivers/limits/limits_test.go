package limits

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProduct(t *testing.T) {
	p, ok := Product(Nodes, 16, 16, 4)
	require.True(t, ok)
	require.Equal(t, 1024, p)
	for _, factors := range [][]int{
		{1 << 32, 1 << 32}, {4096, 4096, 4096, 4096, 4096, 4096}, {3, 6148914691236517206}, {-1, 2}, {math.MaxInt}, {1024, 1025},
	} {
		_, ok := Product(Nodes, factors...)
		require.False(t, ok, "%v", factors)
	}
}

// Times are converted to picoseconds, which must not overflow.
func TestDurationFitsPicoseconds(t *testing.T) {
	require.LessOrEqual(t, int64(Duration), int64(math.MaxInt64/1000))
	require.Positive(t, int64(Duration/time.Nanosecond)*1000)
}
