package libfabric

import "unsafe"

// Operations of libfabric's atomics, as enum fi_op numbers them.
const (
	atomicMin = iota
	atomicMax
	atomicSum
	atomicProd
	atomicLor
	atomicLand
	atomicBor
	atomicBand
	atomicLxor
	atomicBxor
	atomicRead
	atomicWrite
	atomicCswap
	atomicCswapNE
	atomicCswapLE
	atomicCswapLT
	atomicCswapGE
	atomicCswapGT
	atomicMswap
)

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

type number interface {
	integer | float32 | float64
}

// applyAtomic returns old, changed by an operation. Not ok: the type, as enum fi_datatype numbers
// it, has no such operation.
func applyAtomic(op, datatype uint16, old, operand, compare []byte) (changed []byte, ok bool) {
	if op >= atomicCswap && len(compare) != len(old) || op > atomicMswap {
		return nil, false
	}
	switch datatype {
	case 0:
		return applyInteger[int8](op, old, operand, compare)
	case 1:
		return applyInteger[uint8](op, old, operand, compare)
	case 2:
		return applyInteger[int16](op, old, operand, compare)
	case 3:
		return applyInteger[uint16](op, old, operand, compare)
	case 4:
		return applyInteger[int32](op, old, operand, compare)
	case 5:
		return applyInteger[uint32](op, old, operand, compare)
	case 6:
		return applyInteger[int64](op, old, operand, compare)
	case 7:
		return applyInteger[uint64](op, old, operand, compare)
	case 8:
		return applyNumber[float32](op, old, operand, compare)
	case 9:
		return applyNumber[float64](op, old, operand, compare)
	}
	return nil, false
}

func applyInteger[T integer](op uint16, old, operand, compare []byte) ([]byte, bool) {
	var f func(old, operand, compare T) T
	switch op {
	case atomicBor:
		f = func(old, operand, _ T) T { return old | operand }
	case atomicBand:
		f = func(old, operand, _ T) T { return old & operand }
	case atomicBxor:
		f = func(old, operand, _ T) T { return old ^ operand }
	case atomicMswap:
		f = func(old, operand, compare T) T { return operand&compare | old&^compare }
	default:
		return applyNumber[T](op, old, operand, compare)
	}
	return elementwise(f, old, operand, compare)
}

func applyNumber[T number](op uint16, old, operand, compare []byte) ([]byte, bool) {
	f := arithmetic[T](op)
	if f == nil {
		f = exchange[T](op)
	}
	if f == nil {
		return nil, false
	}
	return elementwise(f, old, operand, compare)
}

func arithmetic[T number](op uint16) func(old, operand, compare T) T {
	switch op {
	case atomicMin:
		return func(old, operand, _ T) T { return min(old, operand) }
	case atomicMax:
		return func(old, operand, _ T) T { return max(old, operand) }
	case atomicSum:
		return func(old, operand, _ T) T { return old + operand }
	case atomicProd:
		return func(old, operand, _ T) T { return old * operand }
	case atomicLor:
		return func(old, operand, _ T) T { return truth[T](old != 0 || operand != 0) }
	case atomicLand:
		return func(old, operand, _ T) T { return truth[T](old != 0 && operand != 0) }
	case atomicLxor:
		return func(old, operand, _ T) T { return truth[T]((old != 0) != (operand != 0)) }
	}
	return nil
}

// exchange returns the operations that replace a value or leave it. Comparisons have the value to
// compare with on their left.
func exchange[T number](op uint16) func(old, operand, compare T) T {
	when := func(holds func(compare, old T) bool) func(old, operand, compare T) T {
		return func(old, operand, compare T) T {
			if holds(compare, old) {
				return operand
			}
			return old
		}
	}
	switch op {
	case atomicRead:
		return func(old, _, _ T) T { return old }
	case atomicWrite:
		return func(_, operand, _ T) T { return operand }
	case atomicCswap:
		return when(func(compare, old T) bool { return compare == old })
	case atomicCswapNE:
		return when(func(compare, old T) bool { return compare != old })
	case atomicCswapLE:
		return when(func(compare, old T) bool { return compare <= old })
	case atomicCswapLT:
		return when(func(compare, old T) bool { return compare < old })
	case atomicCswapGE:
		return when(func(compare, old T) bool { return compare >= old })
	case atomicCswapGT:
		return when(func(compare, old T) bool { return compare > old })
	}
	return nil
}

func truth[T number](b bool) T {
	if b {
		return 1
	}
	return 0
}

// elementwise applies f to each element; not ok: the bytes are no whole number of elements.
func elementwise[T number](f func(old, operand, compare T) T, old, operand, compare []byte) ([]byte, bool) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(old)%size != 0 || len(operand) != len(old) {
		return nil, false
	}
	a, b, c := elements[T](old), elements[T](operand), elements[T](compare)
	for i := range a {
		other := zero
		if len(c) > 0 {
			other = c[i]
		}
		a[i] = f(a[i], b[i], other)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), len(old)), true
}

// elements copies bytes into aligned elements.
func elements[T number](b []byte) []T {
	var zero T
	list := make([]T, len(b)/int(unsafe.Sizeof(zero)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(b)), b)
	return list
}
