package host

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// owingRig is a world in which messages of rank 0 can stay queued: rank 1's mailbox has few slots.
func owingRig(t *testing.T) *rig {
	return newRig(t, plan{nodes: 2, procs: 1, flow: velo.Config{Flow: velo.Static, Slots: 6, CreditSlots: 1}})
}

// sendWithoutWaiting begins messages, more than there are credits for.
func sendWithoutWaiting(r *Rank, messages, n int) error {
	for k := range messages {
		if _, err := r.Isend(1, k, letter(n, k)); err != nil {
			return err
		}
	}
	return nil
}

// Linger sends all queued messages of a rank whose function has returned.
func TestLingerSendsQueuedMessages(t *testing.T) {
	const messages, n = 12, 700
	g := owingRig(t)
	owed := false
	require.NoError(t, g.run(func(r *Rank) error {
		if r.ID() == 0 {
			err := sendWithoutWaiting(r, messages, n)
			owed = r.Owes()
			return err
		}
		for k := range messages {
			buf := make([]byte, n)
			if _, err := r.Recv(0, k, buf); err != nil {
				return err
			}
			require.Equal(t, letter(n, k), buf, "message %d", k)
		}
		return nil
	}))
	require.True(t, owed, "the scenario must leave queued messages")
	require.False(t, g.ranks[0].Owes())
	for moved := true; moved; { // after the run, arrived credits are processed, messages are not
		moved = false
		for _, r := range g.ranks {
			m, err := r.Settle()
			require.NoError(t, err)
			moved = moved || m
		}
	}
}

// A rank that lingers for a peer which never polls again reports what it waits for, and a message
// that the peer has not received is an error.
func TestLingerWaitsForCredits(t *testing.T) {
	g := owingRig(t)
	var seen Waiting
	err := g.run(func(r *Rank) error {
		if r.ID() != 0 {
			return nil
		}
		if err := sendWithoutWaiting(r, 12, 700); err != nil {
			return err
		}
		return r.LingerUntil(func() bool {
			seen = r.Waiting()
			return !r.Owes()
		})
	})
	require.ErrorIs(t, err, errHang)
	require.Equal(t, Waiting{For: "credits", Peer: 1, Sent: seen.Sent, Of: 13}, seen)
	require.Less(t, seen.Sent, seen.Of)
	require.Contains(t, seen.String(), "of 13 packets sent, waits for a credit")
	require.False(t, g.ranks[1].Owes())
	_, err = g.ranks[1].Settle()
	require.ErrorContains(t, err, "a data packet from rank 0 was never received")
}

// An unknown algorithm is an error that suggests the nearest name.
func TestAlgorithmsAreKnown(t *testing.T) {
	err := Bcast.Check("binomail")
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, `no algorithm "binomail" of bcast, did you mean "binomial"?`)
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		require.ErrorIs(t, r.SetAlgorithm(Bcast, "ring"), drivers.ErrConfig)
		return nil
	})
	for k := range Collective(len(algorithms)) {
		for _, ranks := range []int{2, 3, 8, 64} {
			for _, n := range []int{1, 100, 1 << 16} {
				name := k.Choice(ranks, n)
				require.Contains(t, k.Algorithms(), name)
				require.True(t, k.Fits(name, ranks, n), "%s: %s for %d ranks and %d bytes", k, name, ranks, n)
				require.LessOrEqual(t, k.Longest(name, ranks), ranks, name)
				require.Positive(t, k.Longest(name, ranks))
			}
		}
	}
}
