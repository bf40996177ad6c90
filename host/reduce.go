package host

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/drivers"
)

// An Op combines elements of Size bytes: Combine the elements of from into those of into. It must be
// associative and commutative.
type Op struct {
	Size    int
	Combine func(into, from []byte)
}

// SumInt64, MaxInt64 and SumFloat64 are the usual operations over little-endian
// 8-byte elements.
var (
	SumInt64 = Op{8, func(into, from []byte) {
		each(into, from, func(a, b uint64) uint64 { return a + b })
	}}
	// MaxInt64 keeps the larger of two signed integers.
	MaxInt64 = Op{8, func(into, from []byte) {
		each(into, from, func(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) })
	}}
	// SumFloat64 adds floating-point numbers; the order of the additions depends on
	// the number of ranks only.
	SumFloat64 = Op{8, func(into, from []byte) {
		each(into, from, func(a, b uint64) uint64 {
			return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
		})
	}}
)

// check tells whether so many bytes are whole elements.
func (op Op) check(what string, bytes int) error {
	if op.Size < 1 || op.Combine == nil || bytes%op.Size != 0 {
		return fmt.Errorf("%w: %s of %d bytes: expected whole elements of %d bytes", drivers.ErrConfig, what, bytes, op.Size)
	}
	return nil
}

func each(into, from []byte, f func(a, b uint64) uint64) {
	for i := 0; i+8 <= len(into); i += 8 {
		binary.LittleEndian.PutUint64(into[i:], f(binary.LittleEndian.Uint64(into[i:]), binary.LittleEndian.Uint64(from[i:])))
	}
}

// Reduce leaves at the root the combination of every rank's data: a binomial
// tree. The data of other ranks is unspecified afterwards.
func (c *Comm) Reduce(root int, data []byte, op Op) error {
	if err := c.checkRoot("reduce", root); err != nil {
		return err
	}
	if err := op.check("reduce", len(data)); err != nil {
		return err
	}
	tmp := make([]byte, len(data))
	if c.rank.linear {
		if c.id != root {
			return c.collSend(root, tagReduce, data)
		}
		return c.others(func(p int) error { return c.combine(p, tagReduce, data, tmp, op) })
	}
	v := (c.id - root + c.size) % c.size
	for mask := 1; mask < c.size; mask *= 2 {
		if v&mask != 0 {
			return c.collSend((v-mask+root)%c.size, tagReduce, data)
		}
		if v+mask < c.size {
			if err := c.combine((v+mask+root)%c.size, tagReduce, data, tmp, op); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLength refuses what is shorter than a rank's own part: the rest would be combined with nothing.
func checkLength(st Status, err error, b []byte) error {
	if err == nil && st.Bytes != len(b) {
		return fmt.Errorf("%w: %d bytes from rank %d in a collective: expected %d, as here", drivers.ErrConfig, st.Bytes, st.Source, len(b))
	}
	return err
}

// combine receives from p and combines what comes into data.
func (c *Comm) combine(p, tag int, data, tmp []byte, op Op) error {
	st, err := c.recv(p, tag, c.inner, tmp)
	if err = checkLength(st, err, tmp); err != nil {
		return err
	}
	op.Combine(data, tmp)
	return nil
}

// Allreduce leaves the combination at every rank: recursive doubling, with the
// ranks beyond a power of two folded in before and told after.
func (c *Comm) Allreduce(data []byte, op Op) error {
	if err := op.check("allreduce", len(data)); err != nil {
		return err
	}
	if c.rank.linear {
		if err := c.Reduce(0, data, op); err != nil {
			return err
		}
		return c.Bcast(0, data)
	}
	tmp := make([]byte, len(data))
	power := 1
	for power*2 <= c.size {
		power *= 2
	}
	if c.id >= power {
		if err := c.collSend(c.id-power, tagAllreduce, data); err != nil {
			return err
		}
		return c.collRecv(c.id-power, tagAllreduce, data)
	}
	extra := c.id+power < c.size
	if extra {
		if err := c.combine(c.id+power, tagAllreduce, data, tmp, op); err != nil {
			return err
		}
	}
	for mask := 1; mask < power; mask *= 2 {
		if err := c.exchange(tagAllreduce, c.id^mask, data, c.id^mask, tmp); err != nil {
			return err
		}
		op.Combine(data, tmp)
	}
	if extra {
		return c.collSend(c.id+power, tagAllreduce, data)
	}
	return nil
}

// ReduceScatter combines every rank's all and leaves block i of the result at
// rank i: every pair exchanges what the other one needs.
func (c *Comm) ReduceScatter(all, mine []byte, l Layout, op Op) error {
	if err := c.checkLayout("reduce_scatter", l, all); err != nil {
		return err
	}
	for _, n := range l.counts {
		if err := op.check("reduce_scatter", n); err != nil {
			return err
		}
	}
	if c.rank.linear {
		if err := c.Reduce(0, all, op); err != nil {
			return err
		}
		return c.Scatterv(0, all, mine, l)
	}
	copy(mine, l.Of(all, c.id))
	tmp := make([]byte, len(mine))
	for i := 1; i < c.size; i++ {
		to, from := (c.id+i)%c.size, (c.id-i+c.size)%c.size
		if err := c.exchange(tagReduceScatter, to, l.Of(all, to), from, tmp); err != nil {
			return err
		}
		op.Combine(mine, tmp)
	}
	return nil
}
