package libfabric

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// Rank 2 ends last. It waited for rank 1, which had waited for rank 0; a message that had arrived
// before rank 2 looked for it decides nothing.
func TestCriticalPath(t *testing.T) {
	c := newCriticalPath(3)
	c.send(0, 2, true, 9, 1)
	c.send(0, 1, true, 7, 10)
	c.waits[1] = true
	c.receive(0, 1, true, 7, 30)
	c.send(1, 2, true, 7, 35)
	c.send(1, 2, true, 7, 36)
	c.waits[2] = true
	c.receive(1, 2, true, 7, 60)
	c.receive(0, 2, true, 9, 61)
	p := c.report(2, 100)
	require.Equal(t, &CriticalPath{
		Messages: 2, InMessages: 45, OnRanks: 55,
		Last: []CriticalMessage{{0, 1, 10, 30}, {1, 2, 35, 60}},
	}, p)
	require.Contains(t, p.String(), "2 messages")
	require.Contains(t, p.String(), "0 > 1 > 2")
	require.Len(t, c.open, 1, "the second message of rank 1 has not been received")
	require.Zero(t, c.report(0, 100).Messages)
}

// Messages of one tag are received in the order in which they were sent.
func TestCriticalPathOrder(t *testing.T) {
	c := newCriticalPath(2)
	for at := range 3 {
		c.send(0, 1, false, 0, 1e7+drivers.Time(at))
	}
	c.waits[1] = true
	c.receive(0, 1, false, 0, 2e7)
	require.EqualValues(t, 1e7, c.last[1].sent)
	c.waits[1] = true
	c.receive(0, 1, false, 0, 3e7)
	require.EqualValues(t, 1e7+1, c.last[1].sent)
}
