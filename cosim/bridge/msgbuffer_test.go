package bridge

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMsgBufferRefusesWhenNobodyWaits(t *testing.T) {
	var l msgBuffer
	require.False(t, l.handOver([]byte("early")), "nobody expects it")
	require.Nil(t, l.take(0), "the rest of an answer comes by the socket")
	l.expect()
	require.True(t, l.handOver([]byte("hello")))
	require.False(t, l.handOver([]byte("again")), "full")
	require.Equal(t, []byte("hello"), l.take(0))
	require.False(t, l.handOver([]byte("late")))
}

// Regardless of the receiver's state when the message arrives, exactly what was handed over is
// received.
func TestMsgBufferWakesReceiver(t *testing.T) {
	var l msgBuffer
	next, taken := make(chan byte, 1), make(chan bool, 1)
	go func() {
		for i := range next {
			for i%3 == 0 && l.state.Load() == msgBufferLooking { // until it sleeps or reads the socket
				runtime.Gosched()
			}
			taken <- l.handOver([]byte{i})
		}
	}()
	defer close(next)
	for i := range 200 {
		look := time.Duration(0)
		if i%2 == 0 && i%3 != 0 {
			look = time.Millisecond
		}
		l.expect()
		next <- byte(i)
		b := l.take(look)
		if <-taken {
			require.Equal(t, []byte{byte(i)}, b)
		} else { // the runtime ended the nap, or it was too long
			require.Nil(t, b)
		}
		require.EqualValues(t, msgBufferIdle, l.state.Load())
	}
}

func TestMsgBufferGivesUp(t *testing.T) {
	var l msgBuffer
	l.expect()
	require.Nil(t, l.take(time.Microsecond))
	require.EqualValues(t, msgBufferIdle, l.state.Load())
	require.False(t, l.handOver(nil))
}

// Invalid contents written by the other side neither exceed the buffer nor block.
func TestMsgBufferDistrustsOtherSide(t *testing.T) {
	var l msgBuffer
	l.expect()
	l.handOver(nil)
	l.bytes = 1 << 31
	require.Len(t, l.take(0), msgBufferData)
	l.state.Store(77)
	require.Len(t, l.take(time.Microsecond), msgBufferData)
	l.expect()
	go l.wake()
	l.take(0) // returns
}
