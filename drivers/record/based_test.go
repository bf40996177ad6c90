package record

import (
	"bytes"
	"context"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
	"github.com/stretchr/testify/require"
)

// openAt is a body whose nodes have their memory from an address on, in pieces that lie side by side.
func openAt(t *testing.T, from uint64) drivers.System {
	sys, err := drivers.Open(context.Background(), "ideal:", drivers.Options{Nodes: 2, MemoryBytes: int(from) + memoryBytes})
	require.NoError(t, err)
	m := &translog.Meta{Memory: []int{memoryBytes, memoryBytes}, Segments: []drivers.Segment{
		{Off: 0, Addr: from, Bytes: 1 << 14}, {Off: 1 << 14, Addr: from + 1<<14, Bytes: memoryBytes - 1<<14}}}
	p, err := rebase(sys.(drivers.Timed), m)
	require.NoError(t, err)
	return p
}

// A NIC behind an IOMMU finds memory at an address that is not 0; so does the one that replays what it did.
func TestReplayAtAnAddress(t *testing.T) {
	const from = 1 << 20
	var log bytes.Buffer
	sys := New(openAt(t, from), &log, nil)
	traffic(t, sys)
	require.NoError(t, sys.Close())
	meta, err := Read(log.Bytes())
	require.NoError(t, err)
	require.EqualValues(t, from, meta.Segments[0].Addr)
	room, err := Room(&meta)
	require.NoError(t, err)
	require.Equal(t, from+memoryBytes, room)

	target, err := drivers.Open(context.Background(), "ideal:?latency=200", drivers.Options{Nodes: 2, MemoryBytes: room})
	require.NoError(t, err)
	defer target.Close()
	rep, err := Replay(context.Background(), log.Bytes(), target.(drivers.Timed), Config{})
	require.NoError(t, err)
	require.Nil(t, rep.Divergence, "%v", rep.Divergence)
	require.Greater(t, rep.Bytes, 1000)

	small := open2(t, "ideal:")
	defer small.Close()
	_, err = Replay(context.Background(), log.Bytes(), small.(drivers.Timed), Config{})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "at address 0")
}

func TestRoom(t *testing.T) {
	for text, m := range map[string]*translog.Meta{
		"in several pieces": {Memory: []int{1 << 22}, Segments: []drivers.Segment{{Addr: 1 << 22, Bytes: 1 << 21}, {Off: 1 << 21, Addr: 1 << 21, Bytes: 1 << 21}}},
		"below 1024 MB":     {Memory: []int{1 << 22}, Segments: []drivers.Segment{{Addr: 1 << 40, Bytes: 1 << 22}}},
	} {
		_, err := Room(m)
		require.ErrorIs(t, err, drivers.ErrNotSupported)
		require.ErrorContains(t, err, text)
	}
}
