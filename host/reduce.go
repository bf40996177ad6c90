package host

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nicloop/nicloop/drivers"
)

// An Op combines elements of Size bytes: Combine combines the elements of from into those of into.
// It must be associative and commutative.
type Op struct {
	Size    int
	Combine func(into, from []byte)
}

// SumInt64, MaxInt64 and SumFloat64 are the usual operations on little-endian elements of 8 bytes.
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

// check returns an error if the length is not a multiple of the element size.
func (op Op) check(what Collective, bytes int) error {
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

// checkLength returns an error if a message is shorter than the rank's own part: the rest would be
// combined with stale data.
func checkLength(st Status, err error, b []byte) error {
	if err == nil && st.Bytes != len(b) {
		return fmt.Errorf("%w: collective: message of %d bytes from rank %d, own part has %d; all ranks must pass equal lengths", drivers.ErrConfig, st.Bytes, st.Source, len(b))
	}
	return err
}

// linearReduce receives from all ranks at the root.
func linearReduce(s *schedule, c *Comm, x *call) {
	if c.id != x.root {
		s.send(x.root, x.in)
		return
	}
	tmp := make([]byte, len(x.in))
	c.others(func(p int) {
		s.receive(p, tmp)
		s.stop()
		s.combine(x.in, tmp, x.op)
	})
}

// binomialReduce combines up a binomial tree, near children first.
func binomialReduce(s *schedule, c *Comm, x *call) {
	v, rank := c.fromRoot(x.root)
	tmp := make([]byte, len(x.in))
	up := lowest(v, c.size)
	for mask := 1; mask < up && v+mask < c.size; mask *= 2 {
		s.receive(rank(v+mask), tmp)
		s.stop()
		s.combine(x.in, tmp, x.op)
	}
	if v != 0 {
		s.send(rank(v-up), x.in)
	}
}

func linearAllreduce(s *schedule, c *Comm, x *call) {
	linearReduce(s, c, x) // at rank 0
	s.stop()
	linearBcast(s, c, x)
}

// doublingAllreduce is recursive doubling: it exchanges all data with a rank at distance 1, 2, 4
// and so on. Ranks beyond a power of two fold their data into a partner's before and receive the
// result after.
func doublingAllreduce(s *schedule, c *Comm, x *call) {
	power := 1
	for power*2 <= c.size {
		power *= 2
	}
	if c.id >= power {
		s.send(c.id-power, x.in)
		s.stop()
		s.receive(c.id-power, x.in)
		return
	}
	tmp := make([]byte, len(x.in))
	extra := c.id+power < c.size
	if extra {
		s.receive(c.id+power, tmp)
		s.stop()
		s.combine(x.in, tmp, x.op)
	}
	for mask := 1; mask < power; mask *= 2 {
		s.receive(c.id^mask, tmp)
		s.send(c.id^mask, x.in)
		s.stop()
		s.combine(x.in, tmp, x.op)
	}
	if extra {
		s.send(c.id+power, x.in)
	}
}

// ringAllreduce divides the data into a block per rank. Blocks travel round the ring once to be
// combined, so that rank i ends with block i + 1, and once more to be distributed: each rank sends
// and receives the data about twice, whatever the number of ranks.
func ringAllreduce(s *schedule, c *Comm, x *call) {
	l := split(c.size, len(x.in), x.op.Size)
	block := func(i int) []byte { return l.Of(x.in, (i+c.size)%c.size) }
	right, left := (c.id+1)%c.size, (c.id-1+c.size)%c.size
	tmp := make([]byte, len(x.in)/c.size+x.op.Size)
	for i := range c.size - 1 {
		into := block(c.id - i - 1)
		s.receive(left, tmp[:len(into)])
		s.send(right, block(c.id-i))
		s.stop()
		s.combine(into, tmp[:len(into)], x.op)
	}
	s.ring(c.size, c.id, func(v int) int { return v }, func(i int) []byte { return block(i + 1) })
}

func linearReduceScatter(s *schedule, c *Comm, x *call) {
	linearReduce(s, c, &call{in: x.out, op: x.op})
	s.stop()
	linearScatter(s, c, x)
	if c.id == x.root {
		s.copy(x.in, x.lo.Of(x.out, c.id)) // holds the result only after the reduction
	}
}

// pairwiseReduceScatter sends each rank its block and combines the received ones.
func pairwiseReduceScatter(s *schedule, c *Comm, x *call) {
	copy(x.in, x.lo.Of(x.out, c.id))
	tmp := make([]byte, len(x.in))
	for i := 1; i < c.size; i++ {
		to, from := (c.id+i)%c.size, (c.id-i+c.size)%c.size
		s.receive(from, tmp)
		s.send(to, x.lo.Of(x.out, to))
		s.stop()
		s.combine(x.in, tmp, x.op)
	}
}
