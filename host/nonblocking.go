package host

// Collectives that do not wait. Each gives a request; buffers belong to it until it is done. All members of a
// communicator begin them in the same order, and several may be under way at once, also with those that
// wait. The request makes progress whenever its rank does.

// Ibarrier is Barrier without waiting.
func (c *Comm) Ibarrier() (*Request, error) {
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	for dist := 1; dist < c.size; dist *= 2 {
		s.receive((c.id-dist+c.size)%c.size, nil)
		s.send((c.id+dist)%c.size, nil)
		s.stop()
	}
	return s.begin(), nil
}

// Ibcast is Bcast without waiting.
func (c *Comm) Ibcast(root int, data []byte) (*Request, error) {
	if err := c.checkRoot("bcast", root); err != nil {
		return nil, err
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	v := (c.id - root + c.size) % c.size
	mask := lowest(v, c.size)
	if v != 0 {
		s.receive((v-mask+root)%c.size, data)
		s.stop()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if v+mask < c.size {
			s.send((v+mask+root)%c.size, data)
		}
	}
	return s.begin(), nil
}

// Igatherv is Gatherv without waiting.
func (c *Comm) Igatherv(root int, mine, all []byte, l Layout) (*Request, error) {
	if err := c.checkRoot("gather", root); err != nil {
		return nil, err
	}
	if c.id == root {
		if err := c.checkLayout("gather", l, all); err != nil {
			return nil, err
		}
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	if c.id != root {
		s.send(root, mine)
		return s.begin(), nil
	}
	copy(l.Of(all, root), mine)
	for i := 1; i < c.size; i++ {
		p := (c.id + i) % c.size
		s.receive(p, l.Of(all, p))
	}
	return s.begin(), nil
}

// Igather is Gather without waiting.
func (c *Comm) Igather(root int, mine, all []byte) (*Request, error) {
	n := len(mine)
	if err := c.checkRoot("gather", root); err != nil {
		return nil, err
	}
	if c.id == root {
		if err := c.checkLayout("gather", Even(c.size, n), all); err != nil {
			return nil, err
		}
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	v := (c.id - root + c.size) % c.size
	tmp := make([]byte, n*subtree(v, c.size)) // blocks of v, v+1, …
	copy(tmp, mine)
	up := lowest(v, c.size)
	for mask := 1; mask < up; mask *= 2 {
		if child := v + mask; child < c.size {
			s.receive((child+root)%c.size, tmp[mask*n:][:subtree(child, c.size)*n])
		}
	}
	s.stop()
	if v != 0 {
		s.send((v-up+root)%c.size, tmp)
		return s.begin(), nil
	}
	s.copy(all[root*n:], tmp)
	s.copy(all, tmp[(c.size-root)*n:])
	return s.begin(), nil
}

// Iscatterv is Scatterv without waiting.
func (c *Comm) Iscatterv(root int, all, mine []byte, l Layout) (*Request, error) {
	if err := c.checkRoot("scatter", root); err != nil {
		return nil, err
	}
	if c.id == root {
		if err := c.checkLayout("scatter", l, all); err != nil {
			return nil, err
		}
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	if c.id != root {
		s.receive(root, mine)
		return s.begin(), nil
	}
	copy(mine, l.Of(all, root))
	for i := 1; i < c.size; i++ {
		p := (c.id + i) % c.size
		s.send(p, l.Of(all, p))
	}
	return s.begin(), nil
}

// Iscatter is Scatter without waiting.
func (c *Comm) Iscatter(root int, all, mine []byte) (*Request, error) {
	n := len(mine)
	if err := c.checkRoot("scatter", root); err != nil {
		return nil, err
	}
	if c.id == root {
		if err := c.checkLayout("scatter", Even(c.size, n), all); err != nil {
			return nil, err
		}
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	v := (c.id - root + c.size) % c.size
	tmp := make([]byte, n*subtree(v, c.size))
	mask := lowest(v, c.size)
	if v == 0 {
		copy(tmp[copy(tmp, all[root*n:]):], all)
	} else {
		s.receive((v-mask+root)%c.size, tmp)
		s.stop()
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if child := v + mask; child < c.size {
			s.send((child+root)%c.size, tmp[mask*n:][:subtree(child, c.size)*n])
		}
	}
	s.copy(mine, tmp[:n])
	return s.begin(), nil
}

// Iallgatherv is Allgatherv without waiting.
func (c *Comm) Iallgatherv(mine, all []byte, l Layout) (*Request, error) {
	if err := c.checkLayout("allgather", l, all); err != nil {
		return nil, err
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	copy(l.Of(all, c.id), mine)
	right, left := (c.id+1)%c.size, (c.id-1+c.size)%c.size
	for i := range c.size - 1 {
		s.receive(left, l.Of(all, (c.id-i-1+c.size)%c.size))
		s.send(right, l.Of(all, (c.id-i+c.size)%c.size))
		s.stop()
	}
	return s.begin(), nil
}

// Iallgather is Allgather without waiting.
func (c *Comm) Iallgather(mine, all []byte) (*Request, error) {
	return c.Iallgatherv(mine, all, Even(c.size, len(mine)))
}

// Ialltoallv is Alltoallv without waiting: all pairs at a time.
func (c *Comm) Ialltoallv(out []byte, lo Layout, in []byte, li Layout) (*Request, error) {
	if err := c.checkLayout("alltoall", lo, out); err != nil {
		return nil, err
	}
	if err := c.checkLayout("alltoall", li, in); err != nil {
		return nil, err
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	copy(li.Of(in, c.id), lo.Of(out, c.id))
	for i := 1; i < c.size; i++ {
		p := (c.id - i + c.size) % c.size
		s.receive(p, li.Of(in, p))
	}
	for i := 1; i < c.size; i++ {
		p := (c.id + i) % c.size
		s.send(p, lo.Of(out, p))
	}
	return s.begin(), nil
}

// Ialltoall is Alltoall without waiting.
func (c *Comm) Ialltoall(out, in []byte, n int) (*Request, error) {
	l := Even(c.size, n)
	return c.Ialltoallv(out, l, in, l)
}

// Ireduce is Reduce without waiting.
func (c *Comm) Ireduce(root int, data []byte, op Op) (*Request, error) {
	if err := c.checkRoot("reduce", root); err != nil {
		return nil, err
	}
	if err := op.check("reduce", len(data)); err != nil {
		return nil, err
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	v := (c.id - root + c.size) % c.size
	up := lowest(v, c.size)
	var parts [][]byte
	for mask := 1; mask < up && v+mask < c.size; mask *= 2 {
		tmp := make([]byte, len(data))
		s.receive((v+mask+root)%c.size, tmp)
		parts = append(parts, tmp)
	}
	s.stop()
	for _, tmp := range parts {
		s.combine(data, tmp, op)
	}
	if v != 0 {
		s.send((v-up+root)%c.size, data)
	}
	return s.begin(), nil
}

// Iallreduce is Allreduce without waiting.
func (c *Comm) Iallreduce(data []byte, op Op) (*Request, error) {
	if err := op.check("allreduce", len(data)); err != nil {
		return nil, err
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	power := 1
	for power*2 <= c.size {
		power *= 2
	}
	if c.id >= power {
		s.send(c.id-power, data)
		s.stop()
		s.receive(c.id-power, data)
		return s.begin(), nil
	}
	tmp := make([]byte, len(data))
	extra := c.id+power < c.size
	if extra {
		s.receive(c.id+power, tmp)
		s.stop()
		s.combine(data, tmp, op)
	}
	for mask := 1; mask < power; mask *= 2 {
		s.receive(c.id^mask, tmp)
		s.send(c.id^mask, data)
		s.stop()
		s.combine(data, tmp, op)
	}
	if extra {
		s.send(c.id+power, data)
	}
	return s.begin(), nil
}

// IreduceScatter is ReduceScatter without waiting.
func (c *Comm) IreduceScatter(all, mine []byte, l Layout, op Op) (*Request, error) {
	if err := c.checkLayout("reduce_scatter", l, all); err != nil {
		return nil, err
	}
	for _, n := range l.counts {
		if err := op.check("reduce_scatter", n); err != nil {
			return nil, err
		}
	}
	s, err := c.schedule()
	if err != nil {
		return nil, err
	}
	copy(mine, l.Of(all, c.id))
	tmp := make([]byte, len(mine))
	for i := 1; i < c.size; i++ {
		to, from := (c.id+i)%c.size, (c.id-i+c.size)%c.size
		s.receive(from, tmp)
		s.send(to, l.Of(all, to))
		s.stop()
		s.combine(mine, tmp, op)
	}
	return s.begin(), nil
}
