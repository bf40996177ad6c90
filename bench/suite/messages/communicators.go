package messages

import (
	"bytes"
	"fmt"
	"math/rand"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/host"
)

// inSplitWorlds runs a round in communicators that are made by splitting the world at random.
func inSplitWorlds(t *regress.T, once round) error {
	return launchWorlds(t, func() func(r *host.Rank) error {
		return func(r *host.Rank) error {
			for k := range collectiveRounds {
				if err := splitRound(r, t.Seed, k, once); err != nil {
					return fmt.Errorf("round %d: %w", k, err)
				}
			}
			return nil
		}
	})
}

// splitRound: all ranks draw one order of the world and the length of its first part.
func splitRound(r *host.Rank, seed int64, k int, once round) error {
	rnd := rand.New(rand.NewSource(seed<<20 + int64(k)))
	order, first := rnd.Perm(r.Size()), rnd.Intn(r.Size())
	color, key, size := 0, 0, first
	for i, p := range order {
		if p == r.ID() {
			key = i
		}
	}
	if key >= first {
		color, key, size = 1, key-first, r.Size()-first
	}
	c, err := r.Split(color, key)
	if err != nil {
		return err
	}
	if c.ID() != key || c.Size() != size {
		return fmt.Errorf("rank %d is %d of %d, expected %d of %d", r.ID(), c.ID(), c.Size(), key, size)
	}
	d := NewDraw(seed+int64(color)<<32, k, size)
	if err := d.SetAlgorithms(c); err != nil {
		return err
	}
	// A message of the world to the next of the half, with a tag of the half's: nobody may take it
	// there.
	right, left := c.World((key+1)%size), c.World((key+size-1)%size)
	q, err := r.Isend(right, k, d.input(r.ID(), d.n))
	if err != nil {
		return err
	}
	if err := once(r, c, d); err != nil {
		return fmt.Errorf("part %d of %d ranks, algorithms %q: %w", color, size, d.algorithms, err)
	}
	in := make([]byte, d.n)
	st, err := r.Recv(host.AnySource, k, in)
	if err == nil {
		_, err = r.Wait(q)
	}
	if err == nil && (st != host.Status{Source: left, Tag: k, Bytes: d.n} || !bytes.Equal(in, d.input(left, d.n))) {
		err = fmt.Errorf("%d bytes with tag %d from rank %d of the world, expected %d from %d", st.Bytes, st.Tag, st.Source, d.n, left)
	}
	if err != nil {
		return err
	}
	r.FreeAll()
	return nil
}

// checkAll is all collectives one after the other, with a message in between that goes round the
// communicator.
func checkAll(r *host.Rank, c *host.Comm, d *Draw) error {
	for i := range collectives {
		if err := collectives[i].check(c, d); err != nil {
			return err
		}
		q, err := c.Isend((c.ID()+1)%c.Size(), d.round, []byte{byte(c.ID()), byte(i)})
		if err != nil {
			return err
		}
		in, left := make([]byte, 2), (c.ID()+c.Size()-1)%c.Size()
		st, err := c.Recv(host.AnySource, host.AnyTag, in)
		if err != nil {
			return err
		}
		if st.Source != left || in[0] != byte(left) || in[1] != byte(i) {
			return fmt.Errorf("%d from rank %d of the communicator after %s, expected %d from %d", in[1], st.Source, collectives[i].name, i, left)
		}
		if _, err := r.Wait(q); err != nil {
			return err
		}
	}
	return nil
}
