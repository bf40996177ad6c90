package bench

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

func shortOfCredits(p host.Rendezvous) Config {
	c := onIdeal("")
	c.Nodes, c.Procs, c.Sizes, c.buffers = 2, 1, []int{30000}, 20
	c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2}
	c.Rendezvous, c.Chunk, c.Outstanding = p, 8000, 2
	return c
}

// TestAReturnedRankOwesAFIN: the receiver has its message and returns, and has no credit for the
// word that the sender waits for.
func TestAReturnedRankOwesAFIN(t *testing.T) {
	for _, p := range []host.Rendezvous{host.RGET, host.Chunked} {
		small := 0
		require.NoError(t, launch(t, shortOfCredits(p), func(r *host.Rank) error {
			if r.ID() == 0 {
				q, err := r.Isend(1, 1, make([]byte, 30000))
				if err != nil {
					return err
				}
				r.Compute(drivers.Millisecond) // looks at nothing meanwhile
				if _, err := r.Wait(q); err != nil {
					return err
				}
				for range small {
					if _, err := r.Recv(1, 2, nil); err != nil {
						return err
					}
				}
				return nil
			}
			q, err := r.Irecv(0, 1, make([]byte, 30000))
			for ; err == nil && r.Endpoint().Credits(0) > 0; small++ {
				err = r.Send(0, 2, nil)
			}
			if err == nil {
				_, err = r.Wait(q)
			}
			require.True(t, r.Owes(), "the FIN has left: nothing is tested")
			return err
		}), p)
		require.NotZero(t, small)
	}
}

// TestRanksThatNobodyHears: the sender has returned without waiting, and more ends of rendezvous
// are on their way to it than it has slots. Nobody waits for them, but no credit may be lost.
func TestRanksThatNobodyHears(t *testing.T) {
	for _, p := range []host.Rendezvous{host.RGET, host.Chunked} {
		const messages = 20
		require.NoError(t, launch(t, shortOfCredits(p), func(r *host.Rank) error {
			for i := range messages {
				b, err := r.Alloc(30000)
				if err != nil {
					return err
				}
				if r.ID() == 0 {
					for k := range b {
						b[k] = byte(i + k)
					}
					_, err = r.Isend(1, i, b)
				} else if _, err = r.Recv(0, i, b); err == nil {
					want := make([]byte, len(b))
					for k := range want {
						want[k] = byte(i + k)
					}
					if !bytes.Equal(b, want) {
						t.Errorf("message %d came with other bytes", i)
					}
				}
				if err != nil {
					return err
				}
			}
			if r.ID() == 1 {
				require.True(t, r.Owes(), "all ends have left: nothing is tested")
			}
			return nil
		}), p)
	}
}
