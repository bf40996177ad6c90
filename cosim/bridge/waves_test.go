package bridge

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// blocks returns a file of empty blocks.
func blocks(kinds ...byte) []byte {
	var b []byte
	for _, k := range kinds {
		b = append(b, k)
		b = binary.BigEndian.AppendUint64(b, 8+16)
		b = append(b, make([]byte, 16)...)
	}
	return b
}

// TestLogOnAFullDisk: the simulator continues to print, and the loss is reported at the end.
func TestLogOnAFullDisk(t *testing.T) {
	l, err := newLogTail("/dev/full")
	require.NoError(t, err)
	require.NoError(t, l.whole())
	n, err := l.Write([]byte("hello\n"))
	require.NoError(t, err, "or the simulator would die of a closed pipe")
	require.Equal(t, 6, n)
	require.ErrorIs(t, l.whole(), drivers.ErrEnvironment)
	require.ErrorIs(t, l.whole(), syscall.ENOSPC)
	require.Equal(t, "hello", l.tail(1))
	l.close()
}

// TestWalkFST: every truncation of a wave file by a full disk is detected.
func TestWalkFST(t *testing.T) {
	whole := blocks(fstHeader, fstMoreTo, fstGeometry, 6)
	require.NoError(t, walkFST(bytes.NewReader(whole), int64(len(whole))))
	for n := range whole {
		require.Error(t, walkFST(bytes.NewReader(whole[:n]), int64(n)), "cut after %d bytes", n)
	}
	for _, kinds := range [][]byte{{fstHeader}, {fstChanges, fstGeometry, fstNames}, {fstHeader, fstGeometry, fstNames}, {fstHeader, fstMoreTo, fstNames}, {fstHeader, fstMoreTo, fstGeometry}} {
		b := blocks(kinds...)
		require.Error(t, walkFST(bytes.NewReader(b), int64(len(b))), "%v", kinds)
	}
	holes := append(bytes.Clone(whole), make([]byte, 100)...) // unwritten parts read as zeros
	require.Error(t, walkFST(bytes.NewReader(holes), int64(len(holes))))
}
