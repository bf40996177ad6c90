package host

import "math/bits"

// A freeList keeps what is not in use: its elements are made in lots, so that a rank which
// has had its largest number of them under way allocates no more.
type freeList[T any] struct{ free []*T }

const lot = 32

func (l *freeList[T]) get() *T {
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

// put takes back what nobody refers to any more, and forgets what it refers to.
func (l *freeList[T]) put(t *T) {
	*t = *new(T)
	l.free = append(l.free, t)
}

// buffers keeps buffers of up to EagerMax bytes, by powers of two.
type buffers [bufferSizes][][]byte

const (
	smallest    = 6                 // bits: 64 bytes
	bufferSizes = 11 - smallest + 1 // the largest: 2^11, EagerMax
)

func (b *buffers) get(n int) []byte {
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

func (b *buffers) put(buf []byte) {
	i := bits.Len(uint(cap(buf)-1)) - smallest
	b[i] = append(b[i], buf)
}
