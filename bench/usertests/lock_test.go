package usertests

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLock: a process that waits for the build of another one can be interrupted, and goes on when
// the other has ended.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), name)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = lock(ctx, name)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	unlock()
	unlock, err = lock(t.Context(), name)
	require.NoError(t, err)
	unlock()
}
