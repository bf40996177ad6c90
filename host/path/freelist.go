package path

import "math/bits"

// A FreeList keeps what is not in use. Its elements are made in lots, so that a rank which has had
// its largest number of them in progress allocates no more.
type FreeList[T any] struct{ free []*T }

const lot = 32

// Get takes an element, whose content is the zero value.
func (l *FreeList[T]) Get() *T {
	n := len(l.free)
	if n == 0 {
		made := make([]T, lot)
		for i := range made {
			l.free = append(l.free, &made[i])
		}
		n = lot
	}
	t := l.free[n-1]
	l.free = l.free[:n-1]
	return t
}

// Put takes back an element to which nothing refers any more, and clears it.
func (l *FreeList[T]) Put(t *T) {
	*t = *new(T)
	l.free = append(l.free, t)
}

// Buffers keeps buffers of up to EagerMax bytes, by powers of two.
type Buffers [bufferSizes][][]byte

const (
	smallest    = 6                 // bits: 64 bytes
	bufferSizes = 11 - smallest + 1 // the largest: 2^11, EagerMax
)

// Get takes a buffer of n bytes.
func (b *Buffers) Get(n int) []byte {
	i := max(bits.Len(uint(max(n, 1)-1)), smallest) - smallest
	if len(b[i]) == 0 {
		size := 1 << (i + smallest)
		for made := make([]byte, lot*size); len(made) > 0; made = made[size:] {
			b[i] = append(b[i], made[:size:size])
		}
	}
	last := len(b[i]) - 1
	buf := b[i][last]
	b[i] = b[i][:last]
	return buf[:n]
}

// Put takes a buffer back.
func (b *Buffers) Put(buf []byte) {
	i := bits.Len(uint(cap(buf)-1)) - smallest
	b[i] = append(b[i], buf)
}

// LargestHeld is how many buffers of the largest size are in use, up to a lot.
func (b *Buffers) LargestHeld() int { return (lot - len(b[bufferSizes-1])%lot) % lot }
