package reuse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Impossible messages of a peer are refused without any effect.
func TestRingRefuses(t *testing.T) {
	var s Sender
	require.Error(t, s.Grant(0, 4), "not asked")
	require.Error(t, s.Free(1))
	require.True(t, s.Ask())
	require.False(t, s.Ask(), "once")
	_, ok := s.Take()
	require.False(t, ok, "not granted yet")
	require.Error(t, s.Grant(0, MaxEntries+1))
	require.NoError(t, s.Grant(100, MaxEntries))
	require.Error(t, s.Grant(100, 1), "twice")
	require.Error(t, s.Free(1), "it is home")
	for i := range MaxEntries {
		e, ok := s.Take()
		require.True(t, ok)
		require.Equal(t, i, e)
	}
	_, ok = s.Take()
	require.False(t, ok)
	require.False(t, s.Home())
	require.NoError(t, s.Free(1<<63|1))
	s.Cancel(5)
	require.NoError(t, s.Free(^uint64(0)&^(1<<63|1|1<<5)))
	require.True(t, s.Home())

	var r Receiver[string]
	_, err := r.Header(0, "")
	require.Error(t, err, "not open")
	_, _, err = r.Bytes(0)
	require.Error(t, err)
	r.Open(100, 2)
	complete, err := r.Header(1, "m")
	require.NoError(t, err)
	require.False(t, complete)
	_, err = r.Header(1, "m")
	require.Error(t, err, "its message is not complete")
	require.Panics(t, func() { r.Read(1) })
	m, complete, err := r.Bytes(1)
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, "m", m)
	_, _, err = r.Bytes(1)
	require.Error(t, err)
	r.Read(1)
	require.True(t, r.Due())
	_, err = r.Header(1, "m")
	require.Error(t, err, "not given back yet")
	require.EqualValues(t, 2, r.Back())
	require.Zero(t, r.Back())
	require.False(t, r.Due())
	_, err = r.Header(1, "m")
	require.NoError(t, err)

	var none Sender
	none.Ask()
	require.NoError(t, none.Grant(0, 0))
	require.False(t, none.Ask())
	require.True(t, none.Home())
}
