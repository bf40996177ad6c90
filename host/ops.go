package host

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Integer and Number are the element types of typed reductions. Elements are stored in
// little-endian order.
type (
	Integer interface {
		int32 | int64 | uint32 | uint64
	}
	Number interface {
		Integer | float32 | float64
	}
)

// Sum, Product, Min and Max are the usual operations. Integer sums and products wrap around. The
// rounding of floating-point results depends on the number of ranks and the algorithm, not on the
// order in which messages arrive.
func Sum[T Number]() Op     { return Elements(func(a, b T) T { return a + b }) }
func Product[T Number]() Op { return Elements(func(a, b T) T { return a * b }) }
func Min[T Number]() Op     { return Elements(func(a, b T) T { return min(a, b) }) }
func Max[T Number]() Op     { return Elements(func(a, b T) T { return max(a, b) }) }

// And, Or and Xor are bitwise operations.
func And[T Integer]() Op { return Elements(func(a, b T) T { return a & b }) }
func Or[T Integer]() Op  { return Elements(func(a, b T) T { return a | b }) }
func Xor[T Integer]() Op { return Elements(func(a, b T) T { return a ^ b }) }

// Elements makes an operation from a function of two elements.
func Elements[T Number](f func(a, b T) T) Op {
	var zero T
	if unsafe.Sizeof(zero) == 4 {
		of, bits := func(v uint32) T { return T(v) }, func(v T) uint32 { return uint32(v) }
		if isFloat[T]() {
			of, bits = func(v uint32) T { return T(math.Float32frombits(v)) }, func(v T) uint32 { return math.Float32bits(float32(v)) }
		}
		return Op{4, func(into, from []byte) {
			for i := 0; i+4 <= len(into); i += 4 {
				v := f(of(binary.LittleEndian.Uint32(into[i:])), of(binary.LittleEndian.Uint32(from[i:])))
				binary.LittleEndian.PutUint32(into[i:], bits(v))
			}
		}}
	}
	of, bits := func(v uint64) T { return T(v) }, func(v T) uint64 { return uint64(v) }
	if isFloat[T]() {
		of, bits = func(v uint64) T { return T(math.Float64frombits(v)) }, func(v T) uint64 { return math.Float64bits(float64(v)) }
	}
	return Op{8, func(into, from []byte) {
		each(into, from, func(a, b uint64) uint64 { return bits(f(of(a), of(b))) })
	}}
}

func isFloat[T Number]() bool {
	one := T(1)
	return one/2 != 0
}
