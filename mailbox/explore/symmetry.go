package explore

import (
	"bytes"
	"slices"
)

// Processes that are configured alike and send alike are interchangeable: whatever happens in a
// world, the same happens in one with their names exchanged. So of all such renamings of a state
// only the one with the smallest encoding is kept. A flow control's choices go by the order of its
// lists, never by rank, so that this holds although the lists begin in the order of ranks.

// symmetry finds the smallest renaming of encoded states.
type symmetry struct {
	c        *codec
	renames  []renaming
	block    int     // numbers per peer in the state of a flow control
	starts   [][]int // [process]: where the blocks of its peers begin, and where the last one ends
	one, two []byte
}

// renaming is a permutation of the processes.
type renaming struct {
	order    []int   // the process that is encoded as process k
	position []int   // its inverse
	peers    [][]int // [k]: the peers of that process in the order of their new names; nil: as they are
}

// newSymmetry returns nil if no processes are alike.
func newSymmetry(o Options, c *codec, orders [][]int) *symmetry {
	y := &symmetry{c: c, block: staticNumbers}
	if o.Flow == Dynamic {
		y.block = o.CreditSlots + 1 + dynamicNumbers
	}
	for _, order := range orders {
		if !slices.IsSorted(order) && o.alike(order) {
			y.renames = append(y.renames, newRenaming(order))
		}
	}
	if y.renames == nil {
		return nil
	}
	y.starts = make([][]int, o.Procs)
	return y
}

// alike tells whether the renamed processes send to whom they sent before.
func (o Options) alike(order []int) bool {
	for from := range order {
		for to := range order {
			if o.sends(from, to) != o.sends(order[from], order[to]) {
				return false
			}
		}
	}
	return true
}

func newRenaming(order []int) renaming {
	r := renaming{order: order, position: make([]int, len(order)), peers: make([][]int, len(order))}
	for k, p := range order {
		r.position[p] = k
	}
	for k, p := range order {
		var peers []int
		for j, q := range order {
			if j != k {
				peers = append(peers, q-bit(q > p))
			}
		}
		if !slices.IsSorted(peers) {
			r.peers[k] = peers
		}
	}
	return r
}

// smallest is the smallest encoding of all renamings of the state that the codec has just written.
func (y *symmetry) smallest(w *World, own []byte) []byte {
	y.split(own)
	best, other := own, &y.one
	for i := range y.renames {
		b, smaller := y.append((*other)[:0], w, &y.renames[i], own, best)
		*other = b
		if !smaller {
			continue
		}
		if best = b; other == &y.one {
			other = &y.two
		} else {
			other = &y.one
		}
	}
	return best
}

// split finds the blocks of the peers in the flow controls' states.
func (y *symmetry) split(own []byte) {
	at := 0
	for p := range y.starts {
		y.starts[p] = append(y.starts[p][:0], at)
		for range len(y.starts) - 1 {
			for n := 0; n < y.block; at++ {
				n += bit(own[at] < 0x80) // the last byte of a number
			}
			y.starts[p] = append(y.starts[p], at)
		}
		at = y.c.ends[p]
	}
}

// append writes a renamed state, as long as it may be smaller than the best.
func (y *symmetry) append(b []byte, w *World, r *renaming, own, best []byte) ([]byte, bool) {
	for k := range r.order {
		b = y.appendFlow(b, r, k, own)
		if order := bytes.Compare(b, best[:min(len(b), len(best))]); order > 0 {
			return b, false
		}
	}
	b = y.c.appendQueues(b, w, r.order, r.position)
	return b, bytes.Compare(b, best) < 0
}

// appendFlow writes the state of the flow control that is renamed k.
func (y *symmetry) appendFlow(b []byte, r *renaming, k int, own []byte) []byte {
	p := r.order[k]
	starts := y.starts[p]
	if r.peers[k] == nil {
		return append(b, own[starts[0]:y.c.ends[p]]...)
	}
	for _, i := range r.peers[k] {
		b = append(b, own[starts[i]:starts[i+1]]...)
	}
	for _, entry := range own[starts[len(starts)-1]:y.c.ends[p]] { // of the lists; worlds are small
		if entry > 0 {
			entry = byte(slices.Index(r.peers[k], int(entry)-1) + 1)
		}
		b = append(b, entry)
	}
	return b
}
