package fabric

// pipe is a delay: what is put in comes out a fixed number of cycles later. There
// is a list per cycle under way, long enough for all that one cycle can put in.
type pipe struct {
	delay, mask uint64
	inside      int
	n           []int
	lists       [][]uint64
}

func newPipe(delay, perCycle int) pipe {
	slots := 1
	for slots <= delay {
		slots *= 2
	}
	p := pipe{delay: uint64(delay), mask: uint64(slots - 1), n: make([]int, slots), lists: make([][]uint64, slots)}
	for i := range p.lists {
		p.lists[i] = make([]uint64, perCycle+1) // one more: send writes first and counts then
	}
	return p
}

// open gives the list for what is put in in this cycle and how much is in it;
// whoever fills it calls fill with the new number.
func (p *pipe) open(now uint64) (list []uint64, n int) {
	i := (now + p.delay) & p.mask
	return p.lists[i], p.n[i]
}

func (p *pipe) fill(now uint64, n int) {
	i := (now + p.delay) & p.mask
	p.inside += n - p.n[i]
	p.n[i] = n
}

func (p *pipe) put(now, entry uint64) {
	i := (now + p.delay) & p.mask
	p.lists[i][p.n[i]] = entry
	p.n[i]++
	p.inside++
}

// take empties the list of a cycle; what it returns is good until delay cycles later.
func (p *pipe) take(at uint64) []uint64 {
	i := at & p.mask
	n := p.n[i]
	p.n[i] = 0
	p.inside -= n
	return p.lists[i][:n]
}

// next is the first cycle behind now in which something comes out, or Forever.
func (p *pipe) next(now uint64) uint64 {
	if p.inside == 0 {
		return Forever
	}
	for at := now + 1; ; at++ {
		if p.n[at&p.mask] > 0 {
			return at
		}
	}
}
