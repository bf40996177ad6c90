package libfabric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// after is ready at the nth look.
func after(n int) func() bool {
	return func() bool { n--; return n < 0 }
}

// A peer that answers soon is waited for without sleeping, after some experience; one that does not
// costs few looks.
func TestSpinner(t *testing.T) {
	var s spinner
	caught := 0
	for range 200 {
		if s.until(after(1000)) {
			caught++
		}
	}
	require.Greater(t, caught, 150)

	looked := 0
	for range 320 {
		s.until(func() bool { looked++; return false })
	}
	require.Less(t, looked, 320*shortestSpin+12*longestSpin+4*longestSpin)
	require.Greater(t, looked, 9*longestSpin, "it does not try again whether more looks help")
}
