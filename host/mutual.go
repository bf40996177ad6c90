package host

// Collectives without a root and without arithmetic.

// dissemination is a barrier of ceil(log2 Size) rounds: after round k, each rank depends on 2^k
// ranks.
func dissemination(s *schedule, c *Comm, _ *call) {
	for dist := 1; dist < c.size; dist *= 2 {
		s.receive((c.id-dist+c.size)%c.size, nil)
		s.send((c.id+dist)%c.size, nil)
		s.stop()
	}
}

// toAndFromAll sends to all other ranks, then receives from all: the linear algorithm (FC paper,
// section 5.3). Messages that need a rendezvous are in flight together, because each of their sends
// waits for its receive.
func (s *schedule) toAndFromAll(c *Comm, out, in func(peer int) []byte) {
	long := false
	c.others(func(p int) { long = long || len(out(p)) > EagerMax })
	next := func() {
		if !long {
			s.stop()
		}
	}
	c.others(func(p int) {
		s.send(p, out(p))
		next()
	})
	for i := 1; i < c.size; i++ {
		p := (c.id - i + c.size) % c.size
		s.receive(p, in(p))
		next()
	}
}

func linearAllgather(s *schedule, c *Comm, x *call) {
	copy(x.li.Of(x.in, c.id), x.out)
	s.toAndFromAll(c, func(int) []byte { return x.out }, func(p int) []byte { return x.li.Of(x.in, p) })
}

// ringAllgather forwards blocks to the right neighbour until every rank has all of them.
func ringAllgather(s *schedule, c *Comm, x *call) {
	copy(x.li.Of(x.in, c.id), x.out)
	s.ring(c.size, c.id, func(v int) int { return v }, func(i int) []byte { return x.li.Of(x.in, i) })
}

// doublingAllgather exchanges all collected blocks with a rank at distance 1, 2, 4 and so on.
func doublingAllgather(s *schedule, c *Comm, x *call) {
	copy(x.li.Of(x.in, c.id), x.out)
	for n := 1; n < c.size; n *= 2 {
		mine := c.id &^ (n - 1)
		theirs := mine ^ n
		s.receive(c.id^n, x.li.span(x.in, theirs, theirs+n))
		s.send(c.id^n, x.li.span(x.in, mine, mine+n))
		s.stop()
	}
}

// bruckAllgather takes ceil(log2 Size) rounds for any number of ranks. Each round doubles the
// number of collected blocks, which are stored in a row that begins with the rank's own block.
func bruckAllgather(s *schedule, c *Comm, x *call) {
	n := len(x.out)
	row := make([]byte, len(x.in))
	copy(row, x.out)
	for have := 1; have < c.size; have *= 2 {
		more := min(have, c.size-have) * n
		s.receive((c.id+have)%c.size, row[have*n:][:more])
		s.send((c.id-have+c.size)%c.size, row[:more])
		s.stop()
	}
	s.copy(x.in[c.id*n:], row)
	s.copy(x.in[:c.id*n], row[(c.size-c.id)*n:])
}

func linearAlltoall(s *schedule, c *Comm, x *call) {
	copy(x.li.Of(x.in, c.id), x.lo.Of(x.out, c.id))
	s.toAndFromAll(c, func(p int) []byte { return x.lo.Of(x.out, p) }, func(p int) []byte { return x.li.Of(x.in, p) })
}

// pairwiseAlltoall exchanges blocks with one peer after the other.
func pairwiseAlltoall(s *schedule, c *Comm, x *call) {
	copy(x.li.Of(x.in, c.id), x.lo.Of(x.out, c.id))
	for i := 1; i < c.size; i++ {
		to, from := (c.id+i)%c.size, (c.id-i+c.size)%c.size
		s.receive(from, x.li.Of(x.in, from))
		s.send(to, x.lo.Of(x.out, to))
		s.stop()
	}
}

// bruckAlltoall moves every block by the bits of its distance: round k moves all blocks whose
// distance has bit k set by 2^k ranks, in one message. It sends ceil(log2 Size) messages instead of
// Size - 1, each with half of all blocks, which are packed and unpacked. That pays for short
// blocks.
//
// For 3 ranks, seen from rank 0, blocks numbered by distance:
//
//	round 1: send block 1 to rank 1, its destination; receive block 1 of rank 2
//	round 2: send block 2 to rank 2, its destination; receive block 2 of rank 1
func bruckAlltoall(s *schedule, c *Comm, x *call) {
	n := x.bytes
	row := make([]byte, c.size*n) // by remaining distance; finally by distance travelled
	at := func(i int) []byte { return row[i*n:][:n] }
	half := (c.size + 1) / 2 * n
	together, apart := make([]byte, half), make([]byte, half)
	s.copy(row, x.out[c.id*n:])
	s.copy(row[(c.size-c.id)*n:], x.out[:c.id*n])
	for dist := 1; dist < c.size; dist *= 2 {
		k := 0
		for i := dist; i < c.size; i++ {
			if i&dist != 0 {
				s.copy(together[k*n:][:n], at(i))
				k++
			}
		}
		s.receive((c.id-dist+c.size)%c.size, apart[:k*n])
		s.send((c.id+dist)%c.size, together[:k*n])
		s.stop()
		k = 0
		for i := dist; i < c.size; i++ {
			if i&dist != 0 {
				s.copy(at(i), apart[k*n:][:n])
				k++
			}
		}
	}
	for i := range c.size {
		s.copy(x.in[(c.id-i+c.size)%c.size*n:][:n], at(i))
	}
}
