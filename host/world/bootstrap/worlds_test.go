package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/nicloop/nicloop/velo"
)

// Two worlds on one machine, each with the ranks of one node, behave like two programs that share a
// device. Only the bootstrap connects them. The first to finish continues to make progress for the
// other.
func TestTwoWorldsOfOneMachine(t *testing.T) {
	sys, err := registry.Open(context.Background(), "ideal:?clock=wall", drivers.Options{Nodes: 2, MemoryBytes: 8 << 20})
	require.NoError(t, err)
	defer sys.Close()
	const procs = 2
	c := config(t, "unix", 2*procs)
	program := func(node int, come func(Config) (*Session, error)) (err error) {
		mine := c
		mine.Mine = map[int]world.Location{}
		var ranks []int
		for v := range procs {
			r := node*procs + v
			mine.Mine[r] = world.Location{Node: node, VPID: v, Domain: 9}
			ranks = append(ranks, r)
		}
		s, err := come(mine)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		w, err := world.New(world.OnClock(sys), world.Config{
			Directory: s.Directory(), Mine: ranks, Fence: s.Fence, Local: true,
			Velo:    velo.Config{Flow: velo.Static, Slots: 8, CreditSlots: 2},
			Longest: 100000, Buffers: 4, Rendezvous: host.RGET,
		})
		if err != nil {
			return err
		}
		return w.Run(context.Background(), exchange)
	}
	l := make(chan *Listener, 1)
	done := make(chan error, 2)
	go func() {
		done <- program(0, func(c Config) (*Session, error) {
			listener, err := Listen(c)
			if err != nil {
				return nil, err
			}
			l <- listener
			return listener.Wait(context.Background())
		})
	}()
	go func() {
		done <- program(1, func(c Config) (*Session, error) {
			c.Address = (<-l).Addr()
			return Join(context.Background(), c)
		})
	}()
	for range 2 {
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(20 * time.Second):
			t.Fatal("the worlds hang")
		}
	}
}

// exchange sends eager and long messages from every rank to every other.
func exchange(r *host.Rank) error {
	for _, n := range []int{100, 100000} {
		of := func(from, to int) []byte { return bytes.Repeat([]byte{byte(16*from + to + n)}, n) }
		in := make([]byte, n*r.Size())
		var out []byte
		for p := range r.Size() {
			out = append(out, of(r.ID(), p)...)
		}
		if err := r.Alltoall(out, in, n); err != nil {
			return err
		}
		for p := range r.Size() {
			if !bytes.Equal(in[p*n:][:n], of(p, r.ID())) {
				return fmt.Errorf("rank %d has other bytes of rank %d", r.ID(), p)
			}
		}
	}
	return nil
}
