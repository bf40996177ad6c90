package libfabric

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func words(list ...uint32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func TestAtomics(t *testing.T) {
	minus := func(v uint32) uint32 { return -v }
	const int32Type, uint32Type, floatType = 4, 5, 8
	for _, x := range []struct {
		name                        string
		op, datatype                uint16
		old, operand, compare, want uint32
	}{
		{"signed minimum", atomicMin, int32Type, 3, minus(1), 0, minus(1)},
		{"unsigned minimum", atomicMin, uint32Type, 3, minus(1), 0, 3},
		{"maximum", atomicMax, int32Type, minus(5), minus(4), 0, minus(4)},
		{"sum", atomicSum, int32Type, 5, minus(7), 0, minus(2)},
		{"product", atomicProd, uint32Type, 6, 7, 0, 42},
		{"float sum", atomicSum, floatType, math.Float32bits(1.5), math.Float32bits(2), 0, math.Float32bits(3.5)},
		{"logical or", atomicLor, uint32Type, 0, 8, 0, 1},
		{"logical and", atomicLand, uint32Type, 4, 0, 0, 0},
		{"logical xor", atomicLxor, uint32Type, 4, 2, 0, 0},
		{"or", atomicBor, uint32Type, 4, 3, 0, 7},
		{"and", atomicBand, uint32Type, 6, 3, 0, 2},
		{"xor", atomicBxor, uint32Type, 6, 3, 0, 5},
		{"read", atomicRead, uint32Type, 6, 3, 0, 6},
		{"write", atomicWrite, uint32Type, 6, 3, 0, 3},
		{"swap", atomicCswap, uint32Type, 6, 3, 6, 3},
		{"no swap", atomicCswap, uint32Type, 6, 3, 7, 6},
		{"swap if not equal", atomicCswapNE, uint32Type, 6, 3, 7, 3},
		{"swap if less or equal", atomicCswapLE, uint32Type, 6, 3, 6, 3},
		{"swap if less", atomicCswapLT, uint32Type, 6, 3, 6, 6},
		{"swap if greater or equal", atomicCswapGE, uint32Type, 6, 3, 5, 6},
		{"swap if greater", atomicCswapGT, uint32Type, 6, 3, 7, 3},
		{"masked swap", atomicMswap, uint32Type, 0xf0f0, 0x1234, 0x00ff, 0xf034},
	} {
		changed, ok := applyAtomic(x.op, x.datatype, words(x.old, 0), words(x.operand, 0), words(x.compare, 1))
		require.True(t, ok, x.name)
		require.Equal(t, x.want, binary.LittleEndian.Uint32(changed), x.name)
		require.Len(t, changed, 8, x.name)
	}
	for _, x := range []struct{ op, datatype uint16 }{
		{atomicBor, floatType}, {atomicMswap, floatType}, {atomicSum, 10}, {atomicMswap + 1, 4},
	} {
		_, ok := applyAtomic(x.op, x.datatype, words(1), words(1), words(1))
		require.False(t, ok, "%v", x)
	}
	_, ok := applyAtomic(atomicCswap, uint32Type, words(1), words(1), nil)
	require.False(t, ok)
	_, ok = applyAtomic(atomicSum, 7, words(1), words(1), nil)
	require.False(t, ok, "half of an element")
}
