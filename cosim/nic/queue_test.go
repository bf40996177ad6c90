package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestQueueKeepsOrderWhileItGrows(t *testing.T) {
	var q queue[int]
	in, out := 0, 0
	for range 40 { // three in, two out: the ring wraps around and grows
		for range 3 {
			*q.grow() = in
			in++
		}
		for range 2 {
			require.Equal(t, out, *q.first())
			q.drop()
			out++
		}
	}
	require.Equal(t, in-out, q.n)
	for i := range q.n {
		require.Equal(t, out+i, *q.at(i))
	}
}

func TestQueueReusesItsBuffer(t *testing.T) {
	var q queue[int]
	*q.grow() = 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		*q.grow() = 1
		q.drop()
	}))
}

// drivers.Timed: posted writes are performed in order of (cycle, order of the calls).
func TestPostOrdersByCycleThenByCall(t *testing.T) {
	var q queue[regOp]
	for i, at := range []drivers.Cycle{5, 3, 5, 4, 3} {
		post(&q, regOp{asked: at, v: uint64(i)})
	}
	var order []uint64
	for ; q.n > 0; q.drop() {
		order = append(order, q.first().v)
	}
	require.Equal(t, []uint64{1, 4, 3, 0, 2}, order)
}

func TestStallCountsCycles(t *testing.T) {
	var s stall
	s.end(3) // not begun
	require.Zero(t, s.count(9))
	s.begin(10)
	s.begin(12) // it has begun already
	require.EqualValues(t, 5, s.count(15))
	s.end(20)
	require.EqualValues(t, 10, s.count(99))
	s.begin(100)
	require.EqualValues(t, 12, s.count(102), "stalls add up")
}
