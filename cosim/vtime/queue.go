package vtime

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
)

// queue is a 4-ary heap of processes by (time, order of scheduling).
type queue struct {
	heap []entry
	seq  uint64
}

type entry struct {
	at      drivers.Time
	seq     uint64
	proc    *Proc
	resumes uint64 // of the process at the time of the push: an entry is void once the process has been resumed
}

func (e entry) before(o entry) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

func (q *queue) len() int     { return len(q.heap) }
func (q *queue) first() entry { return q.heap[0] }

// next is the scheduling number of an entry that is pushed now, or later with pushAs.
func (q *queue) next() uint64 {
	q.seq++
	return q.seq
}

func (q *queue) push(at drivers.Time, p *Proc) { q.pushAs(q.next(), at, p) }

func (q *queue) pushAs(seq uint64, at drivers.Time, p *Proc) {
	e := entry{at, seq, p, p.resumes}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = e
}

// soon is the number of entries that want prefetches: the first, and the four candidates for the
// next.
const soon = 5

// want prefetches for the processes that are likely to run next: all areas of the first, and of the
// others the process itself, which refers to the rest.
func (q *queue) want() {
	for i := range q.heap[:min(len(q.heap), soon)] {
		p := q.heap[i].proc
		if i > 0 {
			cache.Of(p).Want()
			continue
		}
		for _, a := range p.near {
			a.Want()
		}
	}
}

func (q *queue) pop() entry {
	top := q.heap[0]
	last := len(q.heap) - 1
	e := q.heap[last]
	q.heap = q.heap[:last]
	i := 0
	for {
		least := i*4 + 1
		if least >= last {
			break
		}
		for c := least + 1; c < min(least+4, last); c++ {
			if q.heap[c].before(q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(e) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	if last > 0 {
		q.heap[i] = e
	}
	return top
}
