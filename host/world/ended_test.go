package world

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
)

// TestEndedRunReturns: when one rank fails, every wait of the other ranks returns
// drivers.ErrRunEnded, and their functions end by returning. The goroutines are not unwound: code
// after a wait runs.
func TestEndedRunReturns(t *testing.T) {
	failure := errors.New("rank 1 fails")
	waits := map[string]func(r *host.Rank) error{
		"recv": func(r *host.Rank) error {
			_, err := r.Recv(1, 7, make([]byte, 8))
			return err
		},
		"long recv": func(r *host.Rank) error {
			_, err := r.Recv(1, 7, make([]byte, 100_000))
			return err
		},
		"probe": func(r *host.Rank) error {
			_, err := r.Probe(1, 7)
			return err
		},
		"mprobe": func(r *host.Rank) error {
			_, err := r.Mprobe(1, 7)
			return err
		},
		"waitany": func(r *host.Rank) error {
			q, err := r.Irecv(1, 7, make([]byte, 8))
			if err != nil {
				return err
			}
			_, _, err = r.Waitany([]*host.Request{q})
			return err
		},
		"test": func(r *host.Rank) error {
			q, err := r.Irecv(1, 7, make([]byte, 8))
			for done := false; err == nil && !done; {
				_, done, err = r.Test(q)
			}
			return err
		},
		"barrier":   func(r *host.Rank) error { return r.Barrier() },
		"ssend":     func(r *host.Rank) error { return r.Ssend(1, 7, make([]byte, 8)) },
		"long send": func(r *host.Rank) error { return r.Send(1, 7, make([]byte, 100_000)) },
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			var got error
			returned := false
			err := Launch(context.Background(), onWall, drivers.Options{}, small(2, 1, host.RGET), func(r *host.Rank) error {
				if r.ID() == 1 {
					return failure
				}
				got = wait(r)
				returned = true
				return got
			})
			require.ErrorIs(t, err, failure)
			require.True(t, returned, "the wait unwound the rank's goroutine instead of returning")
			if !errors.Is(got, drivers.ErrClosed) { // a call that began after the device was closed
				require.ErrorIs(t, got, drivers.ErrRunEnded)
			}
		})
	}
}

// TestStallNamesTheFirstWait: a stall report names what a rank waited for when the run ended, not
// what its function tried afterwards.
func TestStallNamesTheFirstWait(t *testing.T) {
	sys, err := registry.Open(context.Background(), onWall, drivers.Options{Nodes: 2})
	require.NoError(t, err)
	defer sys.Close()
	clock := OnClock(sys)
	clock.Patience = 200 * time.Millisecond
	c := small(2, 1, host.RGET)
	c.Longest = 100
	w, err := New(clock, c)
	require.NoError(t, err)
	err = w.Run(context.Background(), func(r *host.Rank) error {
		_, err := r.Recv(1-r.ID(), 7, make([]byte, 8))
		_, again := r.Recv(1-r.ID(), 9, make([]byte, 8))
		return errors.Join(err, again)
	})
	var stall *StallError
	require.ErrorAs(t, err, &stall)
	require.Len(t, stall.Waits, 2)
	for _, w := range stall.Waits {
		require.Equal(t, "message", w.For)
		require.Equal(t, 7, w.Tag)
	}
}
