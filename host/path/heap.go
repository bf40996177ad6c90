package path

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
)

// A heap hands out pieces of DMA memory: first fit, neighbours joined.
type heap struct {
	pieces []piece // by address
	total  uint64
}

type piece struct{ at, n uint64 }

const HeapAlign = 64

func newHeap(base, n uint64) heap {
	at := (base + HeapAlign - 1) &^ (HeapAlign - 1)
	n -= min(n, at-base)
	return heap{pieces: []piece{{at, n}}, total: n}
}

func RoundUp(n uint64) uint64 { return max((n+HeapAlign-1)&^(HeapAlign-1), HeapAlign) }

func (h *heap) alloc(n uint64) (uint64, error) {
	need := RoundUp(n)
	for i := range h.pieces {
		p := &h.pieces[i]
		if p.n < need {
			continue
		}
		at := p.at
		p.at, p.n = p.at+need, p.n-need
		if p.n == 0 {
			h.pieces = slices.Delete(h.pieces, i, i+1)
		}
		return at, nil
	}
	return 0, fmt.Errorf("%w: no %d bytes of DMA memory left of %d for this rank: give it more memory or send less at a time", drivers.ErrConfig, n, h.total)
}

// largest is the longest piece that is left.
func (h *heap) largest() (n uint64) {
	for _, p := range h.pieces {
		n = max(n, p.n)
	}
	return n
}

// left is all that is left.
func (h *heap) left() (n uint64) {
	for _, p := range h.pieces {
		n += p.n
	}
	return n
}

func (h *heap) free(at, n uint64) {
	n = RoundUp(n)
	i, _ := slices.BinarySearchFunc(h.pieces, at, func(p piece, at uint64) int { return int(int64(p.at - at)) })
	h.pieces = slices.Insert(h.pieces, i, piece{at, n})
	if i+1 < len(h.pieces) && at+n == h.pieces[i+1].at {
		h.pieces[i].n += h.pieces[i+1].n
		h.pieces = slices.Delete(h.pieces, i+1, i+2)
	}
	if i > 0 && h.pieces[i-1].at+h.pieces[i-1].n == at {
		h.pieces[i-1].n += h.pieces[i].n
		h.pieces = slices.Delete(h.pieces, i, i+1)
	}
}

// locate tells where in mem buf lies, if it does.
func locate(mem, buf []byte) (uint64, bool) {
	if len(buf) == 0 || len(mem) == 0 {
		return 0, false
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	base := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	if from < base || from+uintptr(len(buf)) > base+uintptr(len(mem)) {
		return 0, false
	}
	return uint64(from - base), true
}
