package host

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// The context of a freed communicator is reused, and messages do not cross from its old user to its
// new one.
func TestFreedContextsAreReused(t *testing.T) {
	launch(t, plan{nodes: 3, procs: 1}, func(r *Rank) error {
		keep, err := r.Dup()
		if err != nil {
			return err
		}
		first := uint16(0)
		for i := range 50 {
			half, err := r.Split(r.ID()%2, 0)
			if err != nil {
				return err
			}
			c, err := keep.Dup()
			if err != nil {
				return err
			}
			if i == 0 {
				first = c.context
			}
			if c.context != first {
				return fmt.Errorf("round %d: context %d, expected %d again", i, c.context, first)
			}
			b := []byte{byte(i), byte(r.ID())}
			to, from := (r.ID()+1)%r.Size(), (r.ID()+2)%r.Size()
			s, err := c.Isend(to, 1, b)
			if err != nil {
				return err
			}
			got := make([]byte, 2)
			_, err = c.Recv(AnySource, AnyTag, got)
			if err = errors.Join(err, r.Waitall([]*Request{s}), c.Barrier(), half.Barrier()); err != nil {
				return err
			}
			if !bytes.Equal(got, []byte{byte(i), byte(from)}) {
				return fmt.Errorf("round %d: got %v", i, got)
			}
			// The earlier one first: its contexts wait for those of the later one.
			before := r.contexts
			if err := half.Free(); err != nil || r.contexts != before {
				return fmt.Errorf("the next context is %d, expected %d still (%w)", r.contexts, before, err)
			}
			if err := c.Free(); err != nil || r.contexts != int(keep.context)+2 {
				return fmt.Errorf("the next context is %d, expected %d (%w)", r.contexts, keep.context+2, err)
			}
		}
		return keep.Free()
	})
}

// Communicators that are freed one after the other never exhaust the contexts.
func TestContextsAreNeverExhausted(t *testing.T) {
	launch(t, plan{nodes: 1, procs: 1}, func(r *Rank) error {
		for range 40000 {
			c, err := r.Dup()
			if err != nil {
				return err
			}
			if err := c.Free(); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestWrongFrees(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		group, err := r.Group([]int{0, 1})
		if err != nil {
			return err
		}
		require.ErrorIs(t, r.Comm.Free(), drivers.ErrConfig)
		require.ErrorIs(t, group.Free(), drivers.ErrConfig)
		c, err := r.Dup()
		if err != nil {
			return err
		}
		if r.ID() == 0 {
			if err := c.Send(1, 5, []byte("x")); err != nil {
				return err
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if r.ID() == 1 {
			require.ErrorContains(t, c.Free(), "pending message from world rank 0 with tag 5")
			if _, err := c.Recv(0, 5, make([]byte, 1)); err != nil {
				return err
			}
		}
		require.NoError(t, c.Free())
		require.ErrorIs(t, c.Free(), drivers.ErrConfig)
		require.ErrorContains(t, c.Send(0, 0, nil), "freed")
		require.ErrorContains(t, c.Barrier(), "freed")
		return nil
	})
}
