package host

// Collectives with a root. Their trees number ranks from the root on: v is the number of this rank,
// the root has number 0.

// fromRoot returns this rank's number relative to the root, and the function from such a number to
// a rank.
func (c *Comm) fromRoot(root int) (v int, rank func(v int) int) {
	return (c.id - root + c.size) % c.size, func(v int) int { return (v + root) % c.size }
}

// others calls f for every other rank, beginning with the next one.
func (c *Comm) others(f func(peer int)) {
	for i := 1; i < c.size; i++ {
		f((c.id + i) % c.size)
	}
}

// sendEach sends one block to each other rank.
func (s *schedule) sendEach(c *Comm, block func(peer int) []byte) {
	c.others(func(p int) {
		s.send(p, block(p))
		s.stop()
	})
}

func linearBcast(s *schedule, c *Comm, x *call) {
	if c.id != x.root {
		s.receive(x.root, x.in)
		return
	}
	s.sendEach(c, func(int) []byte { return x.in })
}

// binomialBcast sends the whole message down a binomial tree in ceil(log2 Size) steps, far children
// first.
func binomialBcast(s *schedule, c *Comm, x *call) {
	v, rank := c.fromRoot(x.root)
	mask := lowest(v, c.size)
	if v != 0 {
		s.receive(rank(v-mask), x.in)
		s.stop()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if v+mask < c.size {
			s.send(rank(v+mask), x.in)
			s.stopUnlessDirect()
		}
	}
}

// scatterAllgather scatters parts of the message down a binomial tree and then exchanges them round
// a ring. Each rank sends and receives the message about once, which pays for long messages.
func scatterAllgather(s *schedule, c *Comm, x *call) {
	v, rank := c.fromRoot(x.root)
	l := split(c.size, len(x.in), 1)
	mask := lowest(v, c.size)
	if v != 0 {
		s.receive(rank(v-mask), l.span(x.in, v, v+subtree(v, c.size)))
		s.stop()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if child := v + mask; child < c.size {
			s.send(rank(child), l.span(x.in, child, child+subtree(child, c.size)))
			s.stop()
		}
	}
	s.ring(c.size, v, rank, func(i int) []byte { return l.Of(x.in, i) })
}

// ring forwards blocks round the ranks until each has all of them. Rank v begins with block v.
func (s *schedule) ring(size, v int, rank func(v int) int, block func(i int) []byte) {
	right, left := rank((v+1)%size), rank((v-1+size)%size)
	for i := range size - 1 {
		s.receive(left, block((v-i-1+size)%size))
		s.send(right, block((v-i+size)%size))
		s.stop()
	}
}

func linearGather(s *schedule, c *Comm, x *call) {
	if c.id != x.root {
		s.send(x.root, x.out)
		return
	}
	copy(x.li.Of(x.in, c.id), x.out)
	c.others(func(p int) {
		s.receive(p, x.li.Of(x.in, p))
		s.stop()
	})
}

// binomialGather collects blocks of equal length up a binomial tree.
func binomialGather(s *schedule, c *Comm, x *call) {
	v, rank := c.fromRoot(x.root)
	n := len(x.out)
	tmp := make([]byte, n*subtree(v, c.size)) // blocks of v, v+1, …
	copy(tmp, x.out)
	up := lowest(v, c.size)
	for mask := 1; mask < up; mask *= 2 {
		if child := v + mask; child < c.size {
			s.receive(rank(child), tmp[mask*n:][:subtree(child, c.size)*n])
			s.stop()
		}
	}
	if v != 0 {
		s.send(rank(v-up), tmp)
		return
	}
	s.copy(x.in[x.root*n:], tmp)
	s.copy(x.in, tmp[(c.size-x.root)*n:])
}

func linearScatter(s *schedule, c *Comm, x *call) {
	if c.id != x.root {
		s.receive(x.root, x.in)
		return
	}
	copy(x.in, x.lo.Of(x.out, c.id))
	s.sendEach(c, func(p int) []byte { return x.lo.Of(x.out, p) })
}

// binomialScatter distributes blocks of equal length down a binomial tree.
func binomialScatter(s *schedule, c *Comm, x *call) {
	v, rank := c.fromRoot(x.root)
	n := len(x.in)
	if v == 0 && x.root == 0 && c.rank.ring != nil { // blocks are in sending order, so they can be sent from the caller's buffer
		s.scatterDown(c, x.out, n, v, rank)
		s.copy(x.in, x.out[:n])
		return
	}
	tmp := make([]byte, n*subtree(v, c.size))
	if v == 0 {
		s.copy(tmp, x.out[x.root*n:])
		s.copy(tmp[(c.size-x.root)*n:], x.out[:x.root*n])
	} else {
		s.receive(rank(v-lowest(v, c.size)), tmp)
		s.stop()
	}
	s.scatterDown(c, tmp, n, v, rank)
	s.copy(x.in, tmp[:n])
}

// scatterDown sends the blocks of a subtree to the children. The first block is this rank's.
func (s *schedule) scatterDown(c *Comm, blocks []byte, n, v int, rank func(v int) int) {
	for mask := lowest(v, c.size) / 2; mask > 0; mask /= 2 {
		if child := v + mask; child < c.size {
			s.send(rank(child), blocks[mask*n:][:subtree(child, c.size)*n])
			s.stopUnlessDirect()
		}
	}
}

// subtree returns the number of ranks at and below v in the binomial tree of size ranks with root
// 0.
func subtree(v, size int) int {
	if v == 0 {
		return size
	}
	return min(v&-v, size-v)
}

// lowest returns the lowest set bit of v, or, for v = 0, the first power of two that is at least
// size. It is the distance of v to its parent in a binomial tree; the distances to its children are
// smaller.
func lowest(v, size int) int {
	mask := 1
	for ; mask < size && v&mask == 0; mask *= 2 {
	}
	return mask
}
