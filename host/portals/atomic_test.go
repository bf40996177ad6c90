package portals

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func fill(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

func TestAtomicOperations3_15_4(t *testing.T) {
	for _, c := range []struct {
		op                 Op
		d                  Datatype
		target, data, want any
	}{
		{OpMin, Int8, int8(-3), int8(2), int8(-3)},
		{OpMax, Int8, int8(-3), int8(2), int8(2)},
		{OpMin, UInt8, uint8(0xfd), uint8(2), uint8(2)},
		{OpMax, UInt8, uint8(0xfd), uint8(2), uint8(0xfd)},
		{OpSum, Int16, int16(math.MaxInt16), int16(1), int16(math.MinInt16)},
		{OpProd, UInt16, uint16(300), uint16(300), uint16(90000 & 0xffff)},
		{OpLOr, Int32, int32(0), int32(4), int32(1)},
		{OpLAnd, UInt32, uint32(8), uint32(4), uint32(1)},
		{OpLXor, Int64, int64(8), int64(4), int64(0)},
		{OpBOr, UInt64, uint64(8), uint64(4), uint64(12)},
		{OpBAnd, UInt64, uint64(12), uint64(4), uint64(4)},
		{OpBXor, UInt64, uint64(12), uint64(4), uint64(8)},
		{OpMin, Int64, int64(math.MinInt64), int64(1), int64(math.MinInt64)},
		{OpSum, Float, float32(1.5), float32(2.25), float32(3.75)},
		{OpProd, Float, float32(0.1), float32(3), float32(0.1) * float32(3)},
		{OpMax, Double, -1.0, -2.0, -1.0},
		{OpSum, Double, 0.1, 0.2, math.Float64frombits(math.Float64bits(0.30000000000000004))},
		{OpProd, FloatComplex, complex64(1 + 2i), complex64(3 + 4i), complex64(-5 + 10i)},
		{OpSum, DoubleComplex, complex128(1 + 2i), complex128(3 + 4i), complex128(4 + 6i)},
	} {
		r := newRig(t, 0, 0)
		r.me(PriorityList, anyone(5))
		target, data := fill(c.target), fill(c.data)
		copy(r.memory[0][100:], target)
		copy(r.memory[1], data)
		q := Request{
			MD: r.md[1], GetMD: r.md[1], GetOffset: 64, Length: c.d.Size(), Target: r.process(0), MatchBits: 5, Op: c.op,
			Datatype: c.d, Ack: FullAckReq,
		}
		require.Len(t, data, int(c.d.Size()))
		_, err := r.ni[1].FetchAtomic(&q)
		require.NoError(t, err)
		r.run()
		require.Equal(t, fill(c.want), []byte(r.memory[0][100:100+len(data)]), "operation %d on datatype %d", c.op, c.d)
		require.Equal(t, target, []byte(r.memory[1][64:64+len(data)]), "the value before is returned")
		require.Equal(t, []EventKind{EventSend, EventReply}, kinds(r.initiator()))
		copy(r.memory[0][100:], target)
		_, err = r.ni[1].Atomic(&q)
		require.NoError(t, err)
		r.run()
		require.Equal(t, fill(c.want), []byte(r.memory[0][100:100+len(data)]))
		require.Equal(t, []EventKind{EventSend, EventAck}, kinds(r.initiator()))
		require.Equal(t, []EventKind{EventFetchAtomic, EventAtomic}, kinds(r.target()))
	}
}

func TestSwaps3_15_7(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		op                          Op
		d                           Datatype
		operand, target, data, want any
	}{
		{OpSwap, UInt32, uint32(0), uint32(1), uint32(2), uint32(2)},
		{OpCSwap, UInt32, uint32(1), uint32(1), uint32(2), uint32(2)},
		{OpCSwap, UInt32, uint32(3), uint32(1), uint32(2), uint32(1)},
		{OpCSwapNE, UInt32, uint32(3), uint32(1), uint32(2), uint32(2)},
		{OpCSwapLE, Int32, int32(-1), int32(1), int32(2), int32(2)},
		{OpCSwapLE, UInt32, ^uint32(0), uint32(1), uint32(2), uint32(1)},
		{OpCSwapLT, Int32, int32(1), int32(1), int32(2), int32(1)},
		{OpCSwapGE, Int32, int32(1), int32(1), int32(2), int32(2)},
		{OpCSwapGT, Double, 2.0, 1.0, 7.0, 7.0},
		{OpCSwapGE, Double, nan, 1.0, 7.0, 1.0},
		{OpCSwap, DoubleComplex, 1 + 2i, 1 + 2i, 3 + 4i, 3 + 4i},
		{OpMSwap, UInt16, uint16(0x0ff0), uint16(0x1234), uint16(0xabcd), uint16(0x1bc4)},
	} {
		r := newRig(t, 0, 0)
		r.me(PriorityList, anyone(5))
		copy(r.memory[0][100:], fill(c.target))
		copy(r.memory[1], fill(c.data))
		q := Request{
			MD: r.md[1], GetMD: r.md[1], GetOffset: 64, Length: c.d.Size(), Target: r.process(0), MatchBits: 5,
			Op: c.op, Datatype: c.d,
		}
		copy(q.Operand[:], fill(c.operand))
		_, err := r.ni[1].Swap(&q)
		require.NoError(t, err)
		r.run()
		require.Equal(t, fill(c.want), []byte(r.memory[0][100:100+c.d.Size()]), "operation %d on datatype %d", c.op, c.d)
		require.Equal(t, fill(c.target), []byte(r.memory[1][64:64+c.d.Size()]))
	}
}

func TestAtomicRestrictions3_15_4(t *testing.T) {
	for _, c := range []struct {
		kind   Kind
		op     Op
		d      Datatype
		length uint64
	}{
		{KindAtomic, OpSum, UInt32, 6}, {KindAtomic, OpSwap, UInt32, 4}, {KindFetchAtomic, OpCSwap, UInt32, 4},
		{KindSwap, OpSum, UInt32, 4}, {KindSwap, OpCSwap, UInt32, 8}, {KindSwap, OpMSwap, Float, 4},
		{KindAtomic, OpBOr, Double, 8}, {KindAtomic, OpMax, FloatComplex, 8}, {KindSwap, OpCSwapLE, DoubleComplex, 16},
		{KindAtomic, opLast, UInt8, 1}, {KindAtomic, OpSum, datatypeLast, 1},
	} {
		require.ErrorIs(t, checkAtomic(c.kind, c.op, c.d, c.length), ArgInvalid, "%+v", c)
	}
}

func TestAtomicIsTruncatedToWholeItems3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(5)
	m.Length = 7
	r.me(PriorityList, m)
	copy(r.memory[1], "\x01\x00\x00\x00\x01\x00\x00\x00")
	q := Request{
		MD: r.md[1], Length: 8, Target: r.process(0), MatchBits: 5, Op: OpSum, Datatype: UInt32, Ack: FullAckReq,
	}
	_, err := r.ni[1].Atomic(&q)
	require.NoError(t, err)
	r.run()
	require.Equal(t, uint64(4), only(t, r.initiator(), EventAck).MLength)
	require.Equal(t, []byte{1, 0, 0, 0, 0}, []byte(r.memory[0][100:105]))
}
