package host

import (
	"encoding/binary"
	"math"
)

// An Op combines from into into, element by element. It must be associative and
// commutative.
type Op func(into, from []byte)

// SumInt64, MaxInt64 and SumFloat64 are the usual operations over little-endian
// 8-byte elements.
func SumInt64(into, from []byte) {
	each(into, from, func(a, b uint64) uint64 { return a + b })
}

// MaxInt64 keeps the larger of two signed integers.
func MaxInt64(into, from []byte) {
	each(into, from, func(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) })
}

// SumFloat64 adds floating-point numbers; the order of the additions depends on
// the number of ranks only.
func SumFloat64(into, from []byte) {
	each(into, from, func(a, b uint64) uint64 {
		return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
	})
}

func each(into, from []byte, f func(a, b uint64) uint64) {
	for i := 0; i+8 <= len(into); i += 8 {
		binary.LittleEndian.PutUint64(into[i:], f(binary.LittleEndian.Uint64(into[i:]), binary.LittleEndian.Uint64(from[i:])))
	}
}

// Reduce leaves at the root the combination of every rank's data: a binomial
// tree. The data of other ranks is unspecified afterwards.
func (r *Rank) Reduce(root int, data []byte, op Op) error {
	if err := r.checkRoot("reduce", root); err != nil {
		return err
	}
	tmp := make([]byte, len(data))
	if r.linear {
		if r.id != root {
			return r.collSend(root, tagReduce, data)
		}
		return r.others(func(p int) error { return r.combine(p, tagReduce, data, tmp, op) })
	}
	v := (r.id - root + r.size) % r.size
	for mask := 1; mask < r.size; mask *= 2 {
		if v&mask != 0 {
			return r.collSend((v-mask+root)%r.size, tagReduce, data)
		}
		if v+mask < r.size {
			if err := r.combine((v+mask+root)%r.size, tagReduce, data, tmp, op); err != nil {
				return err
			}
		}
	}
	return nil
}

// combine receives from p and combines what comes into data.
func (r *Rank) combine(p, tag int, data, tmp []byte, op Op) error {
	if err := r.collRecv(p, tag, tmp); err != nil {
		return err
	}
	op(data, tmp)
	return nil
}

// Allreduce leaves the combination at every rank: recursive doubling, with the
// ranks beyond a power of two folded in before and told after.
func (r *Rank) Allreduce(data []byte, op Op) error {
	if r.linear {
		if err := r.Reduce(0, data, op); err != nil {
			return err
		}
		return r.Bcast(0, data)
	}
	tmp := make([]byte, len(data))
	power := 1
	for power*2 <= r.size {
		power *= 2
	}
	if r.id >= power {
		if err := r.collSend(r.id-power, tagAllreduce, data); err != nil {
			return err
		}
		return r.collRecv(r.id-power, tagAllreduce, data)
	}
	extra := r.id+power < r.size
	if extra {
		if err := r.combine(r.id+power, tagAllreduce, data, tmp, op); err != nil {
			return err
		}
	}
	for mask := 1; mask < power; mask *= 2 {
		if err := r.exchange(tagAllreduce, r.id^mask, data, r.id^mask, tmp); err != nil {
			return err
		}
		op(data, tmp)
	}
	if extra {
		return r.collSend(r.id+power, tagAllreduce, data)
	}
	return nil
}

// ReduceScatter combines every rank's all and leaves block i of the result at
// rank i: every pair exchanges what the other one needs.
func (r *Rank) ReduceScatter(all, mine []byte, l Layout, op Op) error {
	if err := r.checkLayout("reduce_scatter", l, all); err != nil {
		return err
	}
	if r.linear {
		if err := r.Reduce(0, all, op); err != nil {
			return err
		}
		return r.Scatterv(0, all, mine, l)
	}
	copy(mine, l.Of(all, r.id))
	tmp := make([]byte, len(mine))
	for i := 1; i < r.size; i++ {
		to, from := (r.id+i)%r.size, (r.id-i+r.size)%r.size
		if err := r.exchange(tagReduceScatter, to, l.Of(all, to), from, tmp); err != nil {
			return err
		}
		op(mine, tmp)
	}
	return nil
}
