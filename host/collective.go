package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Tags of the collectives, in a communicator of their own. Successive calls of
// one collective cannot mix: messages of a pair do not overtake.
const (
	tagBarrier = iota
	tagBcast
	tagGather
	tagScatter
	tagAllgather
	tagAlltoall
	tagReduce
	tagAllreduce
	tagReduceScatter
)

// SetLinear turns the optimised algorithms of the collectives off: everybody
// talks to everybody directly, as the FC paper's alltoall runs do (section 5.3).
func (r *Rank) SetLinear(on bool) { r.linear = on }

// others calls f for every other rank, from the next one on.
func (c *Comm) others(f func(peer int) error) error {
	for i := 1; i < c.size; i++ {
		if err := f((c.id + i) % c.size); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comm) checkRoot(what string, root int) error {
	if root < 0 || root >= c.size {
		return fmt.Errorf("%w: %s from rank %d: expected 0 to %d", drivers.ErrConfig, what, root, c.size-1)
	}
	return nil
}

// Barrier returns when every rank has entered it: dissemination, in
// ceil(log2 Size) rounds.
func (c *Comm) Barrier() error {
	for dist := 1; dist < c.size; dist *= 2 {
		to, from := (c.id+dist)%c.size, (c.id-dist+c.size)%c.size
		if err := c.exchange(tagBarrier, to, nil, from, nil); err != nil {
			return err
		}
	}
	return nil
}

// Bcast gives every rank the root's data: a binomial tree.
func (c *Comm) Bcast(root int, data []byte) error {
	if err := c.checkRoot("bcast", root); err != nil {
		return err
	}
	if c.rank.linear {
		if c.id != root {
			return c.collRecv(root, tagBcast, data)
		}
		return c.others(func(p int) error { return c.collSend(p, tagBcast, data) })
	}
	v := (c.id - root + c.size) % c.size // the root is 0
	mask := lowest(v, c.size)
	if v != 0 {
		if err := c.collRecv((v-mask+root)%c.size, tagBcast, data); err != nil {
			return err
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if v+mask < c.size {
			if err := c.collSend((v+mask+root)%c.size, tagBcast, data); err != nil {
				return err
			}
		}
	}
	return nil
}
