package ethernet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestByteQueue: a queue that is never empty does not grow, and keeps its bytes in order.
func TestByteQueue(t *testing.T) {
	var q byteQueue
	next, want := byte(0), byte(0)
	for range 10_000 {
		for q.len() < 100 {
			q.add([]byte{next, next + 1, next + 2})
			next += 3
		}
		for _, b := range q.bytes()[:70] {
			require.Equal(t, want, b)
			want++
		}
		q.remove(70)
	}
	require.LessOrEqual(t, cap(q.data), 1000)
}
