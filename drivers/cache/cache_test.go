package cache

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Whatever a pointer says, it is only asked for: nothing faults, nothing changes.
func TestWantTouchesNothing(t *testing.T) {
	Area{}.Want()
	Want(nil, 0)
	Want(nil, 3)
	x := [4]uint64{1, 2, 3, 4}
	Want(unsafe.Pointer(&x), 1<<16) // far beyond what there is
	Of(&x).Want()
	require.Equal(t, [4]uint64{1, 2, 3, 4}, x)
}

// An area has all lines of what lies there, but a beginning of it no more than asked for.
func TestLines(t *testing.T) {
	for bytes, lines := range map[int]int{1: 1, 64: 1, 65: 2, 200: 4} {
		require.Equal(t, lines, Area{lines: 9}.First(uintptr(bytes)).lines)
	}
	require.Equal(t, 4, Of(new([200]byte)).lines)
	require.Equal(t, 2, Of(new([128]byte)).lines)
	require.Equal(t, 4, Of(new([200]byte)).First(1000).lines)
}
