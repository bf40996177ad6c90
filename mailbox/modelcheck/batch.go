package modelcheck

import "sync"

// Out receives what the expansion of a state finds. With one worker, successors are added at once;
// with several, they are buffered and added in the order of the states.
type Out[W, E any] struct {
	search    *Search[W, E]
	from      uint32
	direct    bool
	end       bool
	violation *Violation[E]
	list      []buffered[W, E]
	encodings []byte
	known     int // transitions to known states that need no further attention
}

// buffered is a successor whose encoding is encodings[start:end].
type buffered[W, E any] struct {
	Successor[W, E]
	start, end int
}

func (o *Out[W, E]) begin(from uint32, direct bool) {
	o.from, o.direct, o.end, o.violation, o.known = from, direct, false, nil, 0
	clear(o.list) // frees the worlds of the last batch
	o.list, o.encodings = o.list[:0], o.encodings[:0]
}

// End reports that the state is an end of the protocol: nothing can happen any more.
func (o *Out[W, E]) End() { o.end = true }

// Add reports whether a successor is new. With several workers a state that another one finds in
// the same batch counts as new.
func (o *Out[W, E]) Add(x Successor[W, E]) (fresh bool) {
	if !o.direct {
		return o.buffer(&x)
	}
	id, fresh := o.search.add(o.from, &x)
	if x.Marked {
		o.search.edges.add(id)
	}
	return fresh
}

func (o *Out[W, E]) buffer(x *Successor[W, E]) (fresh bool) {
	_, known := o.search.lookup(x.Encoding)
	if known && !x.Marked {
		o.known++
		return false
	}
	start := len(o.encodings)
	o.encodings = append(o.encodings, x.Encoding...)
	b := buffered[W, E]{*x, start, len(o.encodings)}
	if b.Encoding = nil; known {
		var none W
		b.World = none
	}
	o.list = append(o.list, b)
	return !known
}

// merge adds the buffered successors.
func (o *Out[W, E]) merge() {
	o.search.Transitions += o.known
	for i := range o.list {
		b := &o.list[i]
		b.Encoding = o.encodings[b.start:b.end]
		id, _ := o.search.add(o.from, &b.Successor)
		if b.Marked {
			o.search.edges.add(id)
		}
	}
}

// expandParallel expands a batch with all workers and merges what they found in the order of the
// states. The store does not change while the workers run.
func (s *Search[W, E]) expandParallel(first uint32, worlds []W) (done bool) {
	var all sync.WaitGroup
	for j, worker := range s.workers {
		all.Go(func() {
			for i := j; i < len(worlds); i += len(s.workers) {
				id := first + uint32(i)
				out := &s.outs[i]
				out.begin(id, false)
				out.violation = worker.Expand(s.state(id, worlds[i]), out)
			}
		})
	}
	all.Wait()
	for i := range worlds {
		if s.full() {
			return true
		}
		known := s.Len()
		s.begin()
		s.outs[i].merge()
		if s.finish(first+uint32(i), known, s.outs[i].violation, s.outs[i].end) {
			return true
		}
	}
	return false
}
