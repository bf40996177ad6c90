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

// exchange sends one message and receives another at the same time.
func (r *Rank) exchange(tag, to int, out []byte, from int, in []byte) error {
	q, err := r.irecv(from, tag, commCollective, in)
	if err != nil {
		return err
	}
	if err := r.send(to, tag, commCollective, out); err != nil {
		return err
	}
	_, err = r.Wait(q)
	return err
}

func (r *Rank) collSend(to, tag int, b []byte) error { return r.send(to, tag, commCollective, b) }

func (r *Rank) collRecv(from, tag int, b []byte) error {
	_, err := r.recv(from, tag, commCollective, b)
	return err
}

// others calls f for every other rank, from the next one on.
func (r *Rank) others(f func(peer int) error) error {
	for i := 1; i < r.size; i++ {
		if err := f((r.id + i) % r.size); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rank) checkRoot(what string, root int) error {
	if root < 0 || root >= r.size {
		return fmt.Errorf("%w: %s from rank %d: expected 0 to %d", drivers.ErrConfig, what, root, r.size-1)
	}
	return nil
}

// Barrier returns when every rank has entered it: dissemination, in
// ceil(log2 Size) rounds.
func (r *Rank) Barrier() error {
	for dist := 1; dist < r.size; dist *= 2 {
		to, from := (r.id+dist)%r.size, (r.id-dist+r.size)%r.size
		if err := r.exchange(tagBarrier, to, nil, from, nil); err != nil {
			return err
		}
	}
	return nil
}

// Bcast gives every rank the root's data: a binomial tree.
func (r *Rank) Bcast(root int, data []byte) error {
	if err := r.checkRoot("bcast", root); err != nil {
		return err
	}
	if r.linear {
		if r.id != root {
			return r.collRecv(root, tagBcast, data)
		}
		return r.others(func(p int) error { return r.collSend(p, tagBcast, data) })
	}
	v := (r.id - root + r.size) % r.size // the root is 0
	mask := 1
	for ; mask < r.size; mask *= 2 {
		if v&mask != 0 {
			if err := r.collRecv((v-mask+root)%r.size, tagBcast, data); err != nil {
				return err
			}
			break
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if v+mask < r.size {
			if err := r.collSend((v+mask+root)%r.size, tagBcast, data); err != nil {
				return err
			}
		}
	}
	return nil
}
