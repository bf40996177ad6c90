package stall

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

type simulated struct {
	drivers.Device
	now drivers.Cycle
}

func (s *simulated) Now() drivers.Cycle { return s.now }

func TestWatch(t *testing.T) {
	dev := &simulated{}
	w := NewWatch(dev)
	poll := func(n int) (err error) {
		for i := 0; i < n && err == nil; i++ {
			err = w.Empty()
		}
		return err
	}
	require.NoError(t, poll(2*Polls-1))
	require.ErrorContains(t, poll(1), "the clock of this simulated device does not advance")
	for range 5 { // a clock that moves now and then
		dev.now++
		require.NoError(t, poll(Polls))
	}
	w = NewWatch(nil)
	require.NoError(t, poll(3*Polls), "a board has a clock of its own")
}
