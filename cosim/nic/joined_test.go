package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A system that lets time pass by itself: it performs cycles one by one, reads registers without
// Run, and hands packets over.
func TestPartByItself(t *testing.T) {
	r := newPair(t)
	p := r.Part(0)
	require.True(t, p.Empty())
	p.PostRead(0, regs.NodeID)
	require.False(t, p.Empty())
	_, done, err := p.Answer(0)
	require.False(t, done)
	require.NoError(t, err)
	for !done {
		p.Perform(p.NextEvent())
		_, done, err = p.Answer(0)
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, p.AnswerTime(0, regs.NodeID))
	require.True(t, p.Empty())

	id, err := r.Watch(1, mailboxes+5*mailboxStride, 8)
	require.NoError(t, err)
	r.Arm(id)
	h, err := p.Receive(regs.HeaderFields{Type: regs.PacketTypeVELO, Length: 8, SrcVPID: 3, DstNode: 1, DstVPID: 5}.Pack())
	require.NoError(t, err)
	p.Packet(h).SetWord(0, 0x1122)
	p.Packet(h).SetTail(uint64(stamp(1).tail()))
	r.net.arrive(1, 0, h, p.Now()+1)
	for !p.Stops() {
		p.Perform(p.NextEvent())
	}
	fired, err := p.Report(nil)
	require.NoError(t, err)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredWatch, Node: 1, Watch: id}}, fired)
	require.False(t, p.Stops())
	require.EqualValues(t, 0x22, p.Memory(1)[mailboxes+5*mailboxStride])
	require.Zero(t, p.Drained())
}
