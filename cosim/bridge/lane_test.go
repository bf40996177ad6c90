package bridge

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestLaneRefusesWhenNobodyWaits(t *testing.T) {
	var l lane
	require.False(t, l.handOver([]byte("early")), "nobody expects it")
	require.Nil(t, l.take(0), "the rest of an answer comes by the socket")
	l.expect()
	require.True(t, l.handOver([]byte("hello")))
	require.False(t, l.handOver([]byte("again")), "full")
	require.Equal(t, []byte("hello"), l.take(0))
	require.False(t, l.handOver([]byte("late")))
}

// Whatever the receiver does when the message comes, it gets that one.
func TestLaneWakesReceiver(t *testing.T) {
	var l lane
	turn := make(chan byte, 1)
	go func() {
		for want := range turn {
			if want%3 == 0 {
				for l.state.Load() == laneLooking { // until it sleeps or has gone to the socket
					runtime.Gosched()
				}
			}
			l.handOver([]byte{want})
		}
	}()
	defer close(turn)
	for i := range 200 {
		look := time.Duration(0)
		if i%2 == 0 && i%3 != 0 {
			look = time.Second
		}
		l.expect()
		turn <- byte(i)
		if b := l.take(look); b != nil {
			require.Equal(t, []byte{byte(i)}, b)
		} else { // the runtime ended the nap, or it was long
			require.EqualValues(t, laneIdle, l.state.Load())
		}
	}
}

func TestLaneGivesUp(t *testing.T) {
	var l lane
	l.expect()
	require.Nil(t, l.take(time.Microsecond))
	require.EqualValues(t, laneIdle, l.state.Load())
	require.False(t, l.handOver(nil))
}

// A length that the other side made up reaches no further than the lane.
func TestLaneBoundsLength(t *testing.T) {
	var l lane
	l.expect()
	l.handOver(nil)
	l.bytes = 1 << 31
	require.Len(t, l.take(0), laneData)
}

// holds runs a trial to its end and tells what it holds to; cost is the time per cycle.
func holds(x *trial, cost [ways]time.Duration, cycles uint64) way {
	for x.begin(); x.trying; x.begin() {
		x.done(cost[x.way]*time.Duration(cycles), drivers.Cycle(cycles))
	}
	return x.way
}

func TestTrial(t *testing.T) {
	for _, c := range []struct {
		cost [ways]time.Duration
		want way
	}{
		{[ways]time.Duration{100, 90, 80}, bothLook},
		{[ways]time.Duration{100, 80, 90}, simulatorLooks},
		{[ways]time.Duration{100, 110, 300}, bothSleep},
		{[ways]time.Duration{100, 99, 99}, bothSleep}, // it takes a core from others
	} {
		x := newTrial(time.Millisecond)
		x.single = false // also on a machine of one CPU
		require.Equal(t, c.want, holds(&x, c.cost, 20))
		for range holdExchanges - 1 {
			require.Equal(t, c.want, x.way)
			x.done(time.Second, 1)
			x.begin()
		}
		x.done(time.Second, 1)
		require.True(t, x.trying, "things change: it tries again")
		require.Equal(t, bothSleep, holds(&x, [ways]time.Duration{1, 2, 2}, 20))
	}
	never := newTrial(-1)
	never.begin()
	require.Equal(t, bothSleep, never.way)
}
