package libfabric

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A log that was written and read back replays what was recorded.
func TestComputeLog(t *testing.T) {
	calls := []struct {
		op opcode
		ns uint64
	}{
		{opClock, 5}, {opRecv, 100}, {opPoll, 0}, {opPoll, 0}, {opPoll, 0}, {opPeek, 7}, {opSend, 300}, {opFinalize, 1},
	}
	l := NewComputeLog(2)
	for _, c := range calls {
		l.record(1, c.op, c.ns)
	}
	var text bytes.Buffer
	n, err := l.WriteTo(&text)
	require.NoError(t, err)
	require.Equal(t, int64(text.Len()), n)
	require.Contains(t, text.String(), "2 100 z3 7\n")
	back, err := ReadComputeLog(&text)
	require.NoError(t, err)
	require.Equal(t, l, back)

	var at computeCursor
	for _, c := range calls {
		ns, err := back.next(1, &at, c.op)
		require.NoError(t, err)
		require.Equal(t, c.ns, ns)
	}
	_, err = back.next(1, &at, opSend)
	require.ErrorContains(t, err, "operation 4 is a send, the recorded program had 3")
}

// A faster or slower network changes how often a program looks, not what its operations cost.
func TestComputeLogOtherLooks(t *testing.T) {
	l := NewComputeLog(1)
	for _, ns := range []uint64{3, 4} {
		l.record(0, opPoll, ns)
	}
	l.record(0, opSend, 50)
	var fewer, more, other computeCursor
	ns, err := l.next(0, &fewer, opSend)
	require.NoError(t, err)
	require.EqualValues(t, 50, ns)
	for _, want := range []uint64{3, 4, 0} {
		ns, err = l.next(0, &more, opPoll)
		require.NoError(t, err)
		require.Equal(t, want, ns)
	}
	_, err = l.next(0, &other, opRecv)
	require.ErrorContains(t, err, "operation 1 is a receive, recorded was a send")
}

func TestComputeLogDamaged(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", "line 1"},
		{"nicloop-compute 2 1\n", "expected nicloop-compute 1"},
		{"nicloop-compute 1 1\nrank 1 1\n", "expected rank 0"},
		{"nicloop-compute 1 1\nrank 0 2\n0 0\n", "line 4"},
		{"nicloop-compute 1 1\nrank 0 1\n0 x\n", "expected an operation"},
		{"nicloop-compute 1 1\nrank 0 1\n0 0 z99999999999\n", "expected an operation"},
	} {
		_, err := ReadComputeLog(strings.NewReader(x.text))
		require.ErrorContains(t, err, x.want, "%q", x.text)
	}
}
