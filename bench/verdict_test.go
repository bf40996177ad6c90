package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// forged is a system of which one node's TX_LEVEL shows fewer credits than there are, as if some had been lost.
type forged struct {
	drivers.Timed
	node int
	lost uint64
}

func (f forged) Device(node int) drivers.Device {
	if node == f.node {
		return forgedDevice{f.Timed.Device(node), f.lost}
	}
	return f.Timed.Device(node)
}

type forgedDevice struct {
	drivers.Device
	lost uint64
}

func (d forgedDevice) ReadReg(off uint32) (uint64, error) {
	v, err := d.Device.ReadReg(off)
	if off == regs.TXLevel {
		v -= d.lost << regs.TXLevelCredits1.LSB()
	}
	return v, err
}

// verdictOf is how a program hangs.
func verdictOf(t *testing.T, c Config, body func(*host.Rank) error) *Verdict {
	t.Helper()
	err := Launch(context.Background(), c, 4, body)
	var v *Verdict
	require.ErrorAs(t, err, &v)
	return v
}

// TestVerdictNamesQueues: full mailboxes hold packets, from the completer back to the line buffers, and the verdict names each queue
// and why it stands.
func TestVerdictNamesQueues(t *testing.T) {
	c := Default("alltoall")
	c.Device, c.Nodes, c.Procs = "model:", 2, 2
	c.Velo = velo.Config{Flow: velo.None, Slots: 1}
	_, err := Run(context.Background(), c)
	var v *Verdict
	require.ErrorAs(t, err, &v)
	require.Equal(t, RTLStall, v.Class)
	require.Empty(t, v.Lost)
	queues := map[string]string{}
	for _, n := range v.Nodes {
		for _, h := range n.Held {
			queues[h.Queue] = h.Why
		}
	}
	require.Contains(t, queues["u_nic.u_eject"], "the mailbox of vpid")
	require.Equal(t, "no credit of VC 0 into the network", queues["u_nic.u_requester.u_lines"])
	require.Contains(t, queues, "u_nic.u_router.g_in[0].u_input")
	require.ErrorContains(t, v, "u_nic.u_requester.u_lines: 30 lines; no credit of VC 0")
}

// TestVerdictLostCredits: the hardware is empty, and yet credits are missing.
func TestVerdictLostCredits(t *testing.T) {
	c := Default("")
	c.Device, c.Nodes, c.Sizes = "model:", 2, []int{8}
	waits := func(r *host.Rank) error {
		_, err := r.Recv(1-r.ID(), 7, make([]byte, 8))
		return err
	}
	require.Empty(t, verdictOf(t, c, waits).Lost)
	c.Open = func(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
		sys, err := drivers.Open(ctx, uri, opt)
		if err != nil {
			return nil, err
		}
		return forged{sys.(drivers.Timed), 1, 3}, nil
	}
	v := verdictOf(t, c, waits)
	require.Equal(t, []LostCredits{{Node: 1, Port: 0, VC: 1, Have: 13, Depth: 16}}, v.Lost)
	require.ErrorContains(t, v, "credits are lost: router of node 1, port 0 (from the NIC), VC 1: the sender has 13 of 16")
}

// TestVerdictRendezvous: a rank that waits for a long message says how far that is.
func TestVerdictRendezvous(t *testing.T) {
	c := Default("")
	c.Device, c.Nodes, c.Sizes, c.Rendezvous = "model:", 2, []int{8192}, host.RGET
	v := verdictOf(t, c, func(r *host.Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 7, make([]byte, 8192))
		}
		_, err := r.Recv(0, 8, make([]byte, 8192)) // another tag
		return err
	})
	require.Len(t, v.Ranks, 2)
	require.Regexp(t, `^send to 1 .*: 0 of 8192 bytes`, v.Ranks[0].Long)
	require.False(t, errors.Is(v, context.Canceled))
}
