package portals

import (
	"encoding/binary"
	"math"
)

// Op is an atomic operation (3.15.4).
type Op uint8

const (
	OpMin Op = iota
	OpMax
	OpSum
	OpProd
	OpLOr
	OpLAnd
	OpBOr
	OpBAnd
	OpLXor
	OpBXor
	OpSwap
	OpCSwap
	OpCSwapNE
	OpCSwapLE
	OpCSwapLT
	OpCSwapGE
	OpCSwapGT
	OpMSwap
	opLast
)

// Datatype is the type of an item of an atomic operation (3.15.4). Long double has no portable
// layout and is not supported.
type Datatype uint8

const (
	Int8 Datatype = iota
	UInt8
	Int16
	UInt16
	Int32
	UInt32
	Int64
	UInt64
	Float
	FloatComplex
	Double
	DoubleComplex
	datatypeLast
)

var datatypeSizes = [...]uint64{1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16}

// Size is the length of an item in bytes.
func (d Datatype) Size() uint64 { return datatypeSizes[d] }

func (d Datatype) isInteger() bool { return d <= UInt64 }
func (d Datatype) isSigned() bool  { return d.isInteger() && d&1 == 0 }
func (d Datatype) isComplex() bool { return d == FloatComplex || d == DoubleComplex }

// checkAtomic verifies that an operation exists for a function and a datatype (3.15.4).
func checkAtomic(kind Kind, op Op, d Datatype, length uint64) error {
	switch {
	case op >= opLast || d >= datatypeLast:
		return invalid("atomic operation %d on datatype %d: unknown", op, d)
	case length%d.Size() != 0:
		return invalid("atomic of %d bytes: expected a multiple of %d", length, d.Size())
	case kind == KindSwap && op < OpSwap:
		return invalid("swap: operation %d is not a swap", op)
	case kind != KindSwap && op >= OpSwap:
		return invalid("atomic operation %d needs Swap", op)
	case op > OpSwap && length != d.Size():
		return invalid("conditional swap of %d bytes: expected one item of %d", length, d.Size())
	case op >= OpLOr && op <= OpBXor && !d.isInteger(), op == OpMSwap && !d.isInteger():
		return invalid("atomic operation %d needs integers", op)
	case d.isComplex() && (op <= OpMax || op >= OpCSwapLE):
		return invalid("atomic operation %d needs ordered items, complex ones are not", op)
	}
	return nil
}

// applyAtomic applies an operation to each item of target; data and target have equal lengths.
func applyAtomic(op Op, d Datatype, target, data []byte, operand *[OperandBytes]byte) {
	size := int(d.Size())
	for at := 0; at+size <= len(target); at += size {
		t, v := target[at:at+size], data[at:at+size]
		switch {
		case op == OpSwap:
			copy(t, v)
		case op == OpMSwap:
			mask := load(operand[:size])
			store(t, load(t)&^mask|load(v)&mask)
		case op > OpSwap:
			if swaps(op, d, operand[:size], t) {
				copy(t, v)
			}
		case d.isInteger():
			store(t, combineIntegers(op, d, load(t), load(v)))
		case d == Float:
			a, b := math.Float32frombits(uint32(load(t))), math.Float32frombits(uint32(load(v)))
			store(t, uint64(math.Float32bits(float32(combineFloats(op, float64(a), float64(b))))))
		case d == Double:
			a, b := math.Float64frombits(load(t)), math.Float64frombits(load(v))
			store(t, math.Float64bits(combineFloats(op, a, b)))
		default:
			combineComplex(op, d, t, v)
		}
	}
}

func load(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

func store(b []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	copy(b, w[:])
}

// ordered maps integers to values whose unsigned order is that of the integers.
func ordered(d Datatype, v uint64) uint64 {
	if d.isSigned() {
		return v ^ 1<<(8*d.Size()-1)
	}
	return v
}

func combineIntegers(op Op, d Datatype, t, v uint64) uint64 {
	switch op {
	case OpMin, OpMax:
		if (ordered(d, v) < ordered(d, t)) == (op == OpMin) {
			return v
		}
		return t
	case OpSum:
		return t + v
	case OpProd:
		return t * v
	case OpLOr:
		return uint64(bit(t != 0 || v != 0))
	case OpLAnd:
		return uint64(bit(t != 0 && v != 0))
	case OpLXor:
		return uint64(bit((t != 0) != (v != 0)))
	case OpBOr:
		return t | v
	case OpBAnd:
		return t & v
	}
	return t ^ v // OpBXor
}

func combineFloats(op Op, t, v float64) float64 {
	switch op {
	case OpMin:
		return min(t, v)
	case OpMax:
		return max(t, v)
	case OpSum:
		return t + v
	}
	return t * v // OpProd
}

func combineComplex(op Op, d Datatype, t, v []byte) {
	half := len(t) / 2
	part := func(b []byte) float64 {
		if d == FloatComplex {
			return float64(math.Float32frombits(uint32(load(b))))
		}
		return math.Float64frombits(load(b))
	}
	a, b := complex(part(t[:half]), part(t[half:])), complex(part(v[:half]), part(v[half:]))
	if op == OpSum {
		a += b
	} else {
		a *= b
	}
	for i, x := range [2]float64{real(a), imag(a)} {
		bits := math.Float64bits(x)
		if d == FloatComplex {
			bits = uint64(math.Float32bits(float32(x)))
		}
		store(t[i*half:(i+1)*half], bits)
	}
}

// swaps tells whether a conditional swap takes place: the operand stands on the left of the
// comparison with the target.
func swaps(op Op, d Datatype, operand, target []byte) bool {
	less, greater, equal := false, false, string(operand) == string(target)
	switch {
	case d.isInteger():
		a, b := ordered(d, load(operand)), ordered(d, load(target))
		less, greater = a < b, a > b
	case d == Float:
		a, b := math.Float32frombits(uint32(load(operand))), math.Float32frombits(uint32(load(target)))
		less, greater, equal = a < b, a > b, a == b
	case d == Double:
		a, b := math.Float64frombits(load(operand)), math.Float64frombits(load(target))
		less, greater, equal = a < b, a > b, a == b
	}
	switch op {
	case OpCSwap:
		return equal
	case OpCSwapNE:
		return !equal
	case OpCSwapLE:
		return less || equal
	case OpCSwapLT:
		return less
	case OpCSwapGE:
		return greater || equal
	}
	return greater // OpCSwapGT
}
