package portals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// triggered posts a put of process 1 whose header data is mark.
func (r *rig) triggered(mark, threshold uint64) {
	r.t.Helper()
	q := Request{MD: r.md[1], Length: 1, Target: r.process(0), MatchBits: 5, HdrData: mark}
	require.NoError(r.t, r.ni[1].TriggeredPut(&q, r.ct[1], threshold))
	q.HdrData = 99 // arguments are copied
}

// marks runs everything and lists the header data of the puts that arrived.
func (r *rig) marks() (list []uint64) {
	r.run()
	for _, e := range r.target() {
		list = append(list, e.HdrData)
	}
	return list
}

func TestTriggeredPutReachesOrExceeds3_16_1(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	r.triggered(1, 2)
	require.Empty(t, r.marks())
	require.NoError(t, r.ni[1].CTInc(r.ct[1], Count{Success: 1}))
	require.Empty(t, r.marks())
	require.NoError(t, r.ni[1].CTInc(r.ct[1], Count{Success: 2}))
	require.Equal(t, []uint64{1}, r.marks())
	require.NoError(t, r.ni[1].CTInc(r.ct[1], Count{Success: 1}))
	require.Empty(t, r.marks(), "an operation is started once")
}

func TestTriggerOrder3_16(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	r.triggered(1, 3)
	r.triggered(2, 2)
	r.triggered(3, 3)
	r.triggered(4, 0)
	require.Equal(t, []uint64{4}, r.marks(), "a threshold that is reached starts at once")
	require.NoError(t, r.ni[1].CTSet(r.ct[1], Count{Success: 3}))
	require.Equal(t, []uint64{2, 1, 3}, r.marks(), "by threshold, then in the order of posting")
}

func TestFailuresTrigger3_16(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	r.triggered(1, 2)
	require.NoError(t, r.ni[1].CTInc(r.ct[1], Count{Success: 1}))
	require.NoError(t, r.ni[1].CTInc(r.ct[1], Count{Failure: 1}))
	require.Equal(t, []uint64{1}, r.marks())
}

func TestTriggersChainWithoutSoftware3_16(t *testing.T) {
	r := newRig(t, 0, 0)
	const count = 5
	m := anyone(5)
	m.Length = rigMemory - 100
	r.me(PriorityList, m)
	copy(r.memory[0][100:], "abcdefghij")
	for i := range uint64(count) { // at most one get is in flight: each waits for the reply of the last one
		q := Request{MD: r.md[1], LocalOffset: 2 * i, Length: 2, Target: r.process(0), MatchBits: 5, RemoteOffset: 2 * i}
		require.NoError(t, r.ni[1].TriggeredGet(&q, r.ct[1], i))
	}
	r.collect(1)
	require.Len(t, r.wire, 1)
	r.run()
	require.Equal(t, "abcdefghij", string(r.memory[1][:10]))
	v, _ := r.ni[1].CTGet(r.ct[1])
	require.Equal(t, Count{Success: count}, v)
}

func TestTriggeredCTIncAndSet3_16_6(t *testing.T) {
	r := newRig(t, 0, 0)
	n, c := r.ni[1], r.ct[1]
	r.me(PriorityList, anyone(5))
	// Each increment of the counter by itself releases the next one, then the put, then the reset.
	for i := range uint64(100) {
		require.NoError(t, n.TriggeredCTInc(c, Count{Success: 1}, c, i+1))
	}
	r.triggered(7, 101)
	require.NoError(t, n.TriggeredCTSet(c, Count{}, c, 101))
	require.NoError(t, n.CTInc(c, Count{Success: 1}))
	require.Equal(t, []uint64{7}, r.marks())
	v, _ := n.CTGet(c)
	require.Zero(t, v)
	require.ErrorIs(t, n.TriggeredCTInc(c, Count{1, 1}, c, 1), ArgInvalid)
}

func TestCTSetBelowFiredThreshold3_14_8(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	r.triggered(1, 1)
	require.NoError(t, r.ni[1].CTSet(r.ct[1], Count{Success: 1}))
	require.Equal(t, []uint64{1}, r.marks())
	require.NoError(t, r.ni[1].CTSet(r.ct[1], Count{}))
	require.NoError(t, r.ni[1].CTSet(r.ct[1], Count{Success: 1}))
	require.Empty(t, r.marks())
}

func TestCancelTriggered3_14_4(t *testing.T) {
	r := newRig(t, 0, 0)
	n := r.ni[1]
	other, err := n.CTAlloc()
	require.NoError(t, err)
	r.triggered(1, 1)
	require.NoError(t, n.TriggeredCTInc(other, Count{Success: 1}, r.ct[1], 2))
	require.Equal(t, InUse, n.MDRelease(r.md[1]))
	require.Equal(t, InUse, n.CTFree(other))
	require.NoError(t, n.CTCancelTriggered(r.ct[1]))
	require.NoError(t, n.CTFree(other))
	require.NoError(t, n.CTInc(r.ct[1], Count{Success: 5}))
	require.Empty(t, r.marks())
	require.NoError(t, n.MDRelease(r.md[1]))
	require.NoError(t, n.CTFree(r.ct[1]))
}

func TestFiredTriggerReleasesItsCounter3_14_3(t *testing.T) {
	r := newRig(t, 0, 0)
	n := r.ni[1]
	a, _ := n.CTAlloc()
	b, _ := n.CTAlloc()
	require.NoError(t, n.TriggeredCTInc(b, Count{Success: 1}, a, 1))
	require.NoError(t, n.CTInc(a, Count{Success: 1}))
	require.NoError(t, n.CTFree(b))
	require.NoError(t, n.TriggeredCTInc(r.ct[1], Count{Success: 1}, a, 9))
	require.NoError(t, n.CTFree(a), "freeing a counter deletes what waits for it")
}

func TestArmedOperationIsNotInTheNetwork3_16(t *testing.T) {
	r := newRig(t, 0, 0)
	r.triggered(1, 1)
	id := r.ni[1].triggers.at(r.ni[1].cts.at(uint32(r.ct[1])).first).op
	require.Error(t, r.ni[1].Sent(id))
	require.Error(t, r.ni[1].Undeliverable(id))
	require.NoError(t, r.ni[1].CTCancelTriggered(r.ct[1]))
}

func TestTriggeredAtomics3_16_3(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	n, q := r.ni[1], Request{
		MD: r.md[1], GetMD: r.md[1], GetOffset: 8, Length: 1, Target: r.process(0), MatchBits: 5, Op: OpSum,
		Datatype: UInt8,
	}
	r.memory[1][0] = 3
	require.NoError(t, n.TriggeredAtomic(&q, r.ct[1], 1))
	require.NoError(t, n.TriggeredFetchAtomic(&q, r.ct[1], 1))
	q.Op = OpSwap
	require.NoError(t, n.TriggeredSwap(&q, r.ct[1], 1))
	require.ErrorIs(t, n.TriggeredAtomic(&q, r.ct[1], 1), ArgInvalid, "a swap")
	require.NoError(t, n.CTInc(r.ct[1], Count{Success: 1}))
	r.run()
	require.Equal(t, [2]byte{3, 6}, [2]byte{r.memory[0][100], r.memory[1][8]})
}
