package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

var protocols = host.Protocols()

// onIdealLong is a small world with RMA for messages of up to n bytes.
func onIdealLong(p host.Rendezvous, n int) Config {
	c := onIdeal("")
	c.Sizes, c.Rendezvous, c.Chunk, c.Outstanding, c.buffers = []int{n}, p, 5000, 3, 8
	return c
}

// ofAnApplication: workloads with tests of their own, whose many messages take long.
func ofAnApplication(wl *Workload) bool { return wl.computes || wl.steps || wl.paired }

func TestLongMessages(t *testing.T) {
	for _, p := range protocols {
		for _, wl := range Workloads() {
			if wl.Name == "barrier" || testing.Short() && ofAnApplication(wl) { // a barrier has no bytes
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", p, wl.Name), func(t *testing.T) {
				c := onIdeal(wl.Name)
				c.Rendezvous, c.Chunk, c.Outstanding, c.Iterations = p, 3000, 2, 3
				c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2, Piggyback: true}
				c.Sizes = []int{2048, 2049, 40000}
				fitApp(&c)
				if strings.Contains(wl.Name, "reduce") { // whole elements of 8 bytes
					c.Sizes[1] = 2056
				}
				res, err := Run(context.Background(), c)
				require.NoError(t, err)
				require.NotZero(t, res.Verified)
			})
		}
	}
}

// TestLongKeepsOrder: MPI's order rule holds between messages that travel by
// different protocols.
func TestLongKeepsOrder(t *testing.T) {
	for _, p := range protocols {
		c := onIdealLong(p, 100000)
		c.Nodes, c.Procs = 2, 1
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			sizes := []int{100000, 5, 2049, 0, 2048}
			if r.ID() == 0 {
				var sends []*host.Request
				for k, n := range sizes {
					b := make([]byte, n) // outside DMA memory: copied on the way
					fill(b, 1, 0, 1, k)
					q, err := r.Isend(1, 3, b)
					if err != nil {
						return err
					}
					sends = append(sends, q)
				}
				return r.Waitall(sends)
			}
			for k, n := range sizes {
				st, err := r.Probe(host.AnySource, host.AnyTag)
				if err != nil {
					return err
				}
				b := make([]byte, st.Bytes)
				if _, err := r.Recv(st.Source, st.Tag, b); err != nil {
					return err
				}
				if len(b) != n {
					return fmt.Errorf("message %d has %d bytes, expected %d", k, len(b), n)
				}
				if err := verify(b, 1, 0, 1, k); err != nil {
					return err
				}
			}
			return nil
		}), "%s", p)
	}
}

// TestLongTruncation: the receiver learns of it, the sender's buffer is free.
func TestLongTruncation(t *testing.T) {
	for _, p := range protocols {
		for _, room := range []int{0, 1, 2999} {
			c := onIdealLong(p, 3000)
			c.Nodes, c.Procs = 2, 1
			sent := false
			err := launch(t, c, func(r *host.Rank) error {
				if r.ID() == 0 {
					err := r.Send(1, 1, make([]byte, 3000))
					sent = err == nil
					return err
				}
				_, err := r.Recv(0, 1, make([]byte, room))
				for r.Now() < 100*drivers.Microsecond { // let the sender finish first
					r.Compute(drivers.Microsecond)
					if _, _, e := r.Iprobe(0, 2); e != nil {
						return e
					}
				}
				return err
			})
			require.ErrorIs(t, err, host.ErrTruncated, "%s, room for %d", p, room)
			require.ErrorContains(t, err, fmt.Sprintf("3000 bytes from rank 0 with tag 1, buffer of %d", room))
			require.True(t, sent, "%s, room for %d: the sender never finished", p, room)
		}
	}
}

func TestLongCollectives(t *testing.T) {
	for _, p := range protocols {
		c := onIdealLong(p, 64<<10)
		c.Nodes, c.Procs = 5, 1
		c.buffers = 16
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			const n = 2000 // numbers of 8 bytes
			sum := numbers(r.ID(), n)
			if err := r.Allreduce(sum, host.SumInt64); err != nil {
				return err
			}
			if err := same("allreduce", sum, sums(5, n)); err != nil {
				return err
			}
			b := numbers(2, n)
			if r.ID() != 2 {
				clear(b)
			}
			if err := r.Bcast(2, b); err != nil {
				return err
			}
			return same("bcast", b, numbers(2, n))
		}), "%s", p)
	}
}

func TestRendezvousIsNamedInVerdicts(t *testing.T) {
	c := onIdealLong(host.RGET, 5000)
	c.Nodes, c.Procs = 2, 1
	err := launch(t, c, func(r *host.Rank) error {
		if r.ID() == 1 {
			return nil
		}
		return r.Send(1, 1, make([]byte, 5000))
	})
	var v *Verdict
	require.ErrorAs(t, err, &v)
	require.Equal(t, HostBlocked, v.Class)
	require.Contains(t, v.Error(), "rendezvous with rank 1 (tag 1): 0 of 5000 bytes moved")
}

// Who names no number of iterations does not wait for a hundred long messages.
func TestFewerIterationsOfLongMessages(t *testing.T) {
	c := Default("pingpong")
	c.Device, c.Sizes = "ideal:", []int{8, 1 << 16, 1 << 20}
	res, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, []int{100, 64, 4}, []int{res.Rows[0].Iterations, res.Rows[1].Iterations, res.Rows[2].Iterations})
	require.Equal(t, 8, res.Rows[2].Messages)
	c.Sizes, c.Iterations = c.Sizes[2:], 5
	res, err = Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, 5, res.Rows[0].Iterations)
}

// Below the switching point of a pair a receive sends no RTR: the rendezvous has no effect on such
// messages, whether VELO, the rings of --reuse or the buffers of --eager-threshold carry them.
func TestSpeculationBelowTheSwitchingPoint(t *testing.T) {
	elapsed := func(p host.Rendezvous, size int) drivers.Time {
		c := Default("pingpong")
		c.Device, c.Sizes, c.Iterations, c.Rendezvous = "ideal:", []int{size}, 20, p
		c.Reuse = host.Reuse{Mode: host.ReuseCopy}
		res, err := Run(t.Context(), c)
		require.NoError(t, err)
		return res.Rows[0].Elapsed
	}
	require.Equal(t, elapsed(host.RGET, 4096), elapsed(host.Spec, 4096))
	require.NotEqual(t, elapsed(host.RGET, 16384), elapsed(host.Spec, 16384))
}
