package portals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// disabled checks that process 0 has disabled its portal table entry and told once.
func (r *rig) disabled() {
	r.t.Helper()
	require.False(r.t, r.ni[0].PTEnabled(0))
	require.Equal(r.t, EventPTDisabled, only(r.t, r.target(), EventPTDisabled).Kind)
}

func TestNoMatchDisables2_5(t *testing.T) {
	r := newRig(t, 0, PTFlowControl)
	r.put(5, "x")
	require.Equal(t, FailPTDisabled, only(t, r.initiator(), EventAck).Fail)
	r.disabled()
	r.me(PriorityList, anyone(5))
	r.put(5, "y")
	require.Equal(t, FailPTDisabled, only(t, r.initiator(), EventAck).Fail)
	require.Empty(t, r.target(), "a disabled entry tells once")
	require.NoError(t, r.ni[0].PTEnable(0))
	r.put(5, "z")
	require.Equal(t, FailNone, only(t, r.initiator(), EventAck).Fail)
	require.Equal(t, byte('z'), r.memory[0][100])
	require.Equal(t, uint64(2), r.ni[0].Status().Dropped)
}

func TestHeadersExhaustedDisable2_5(t *testing.T) {
	for _, o := range []PTOptions{0, PTFlowControl} {
		r := newRig(t, 0, o, func(l *Limits) { l.MaxUnexpectedHeaders = 1 })
		over := anyone(5)
		over.Options = MEManageLocal
		r.me(OverflowList, over)
		r.put(5, "a")
		r.initiator()
		r.put(5, "b")
		fail := only(t, r.initiator(), EventAck).Fail
		require.Equal(t, byte(0), r.memory[0][101], "a refused message leaves no trace")
		if o == 0 {
			require.Equal(t, FailDropped, fail)
			continue
		}
		require.Equal(t, FailPTDisabled, fail)
		r.disabled()
	}
}

func TestFullEventQueueDisables2_5(t *testing.T) {
	r := newRig(t, 0, 0)
	q, err := r.ni[0].EQAlloc(2)
	require.NoError(t, err)
	_, err = r.ni[0].PTAlloc(PTFlowControl, q, 1)
	require.NoError(t, err)
	m := anyone(5)
	m.UID, m.Options = UIDAny, MEOpPut|MEEventLinkDisable|MEUseOnce
	for range 2 {
		_, err = r.ni[0].MEAppend(1, &m, PriorityList)
		require.NoError(t, err)
	}
	for range 2 { // the events of the second one, PUT and AUTO_UNLINK, find no room
		r.put(5, "x", func(q *Request) { q.PT = 1 })
	}
	require.False(t, r.ni[0].PTEnabled(1))
	require.Equal(t, []EventKind{EventPut, EventAutoUnlink, EventPTDisabled}, kinds(r.events(0, q)), "nothing is lost")
	list := r.initiator()
	require.Equal(t, [2]Fail{FailNone, FailPTDisabled}, [2]Fail{list[1].Fail, list[3].Fail})
	require.NoError(t, r.ni[0].PTEnable(1))
	r.put(5, "y", func(q *Request) { q.PT = 1 })
	require.Equal(t, []EventKind{EventPut, EventAutoUnlink}, kinds(r.events(0, q)), "the refused message has used nothing")
}

func TestFlowCtrlEventDisable3_12_1(t *testing.T) {
	r := newRig(t, 0, PTFlowControl, func(l *Limits) { l.MaxUnexpectedHeaders = 0 })
	over := anyone(5)
	over.Options = MEEventFlowCtrlDisable
	r.me(OverflowList, over)
	r.put(5, "a")
	require.False(t, r.ni[0].PTEnabled(0))
	require.Empty(t, r.target())
}

func TestPTDisableAndEnable3_7_3(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	require.NoError(t, r.ni[0].PTDisable(0))
	r.put(5, "x")
	require.Equal(t, FailPTDisabled, only(t, r.initiator(), EventAck).Fail)
	require.Empty(t, r.target(), "an explicit disable raises no event")
	r.get(5, 1)
	require.Equal(t, FailPTDisabled, only(t, r.initiator(), EventReply).Fail)
	require.NoError(t, r.ni[0].PTEnable(0))
	r.put(5, "x")
	require.Equal(t, FailNone, only(t, r.initiator(), EventAck).Fail)
	require.ErrorIs(t, r.ni[0].PTDisable(9), ArgInvalid)
}

func TestPTAllocAndFree3_7_1(t *testing.T) {
	r := newRig(t, 0, 0, func(l *Limits) { l.MaxPTs = 2 })
	n := r.ni[0]
	_, err := n.PTAlloc(PTFlowControl, 0, PTAny)
	require.Equal(t, PTEQNeeded, err)
	_, err = n.PTAlloc(0, 0, 0)
	require.Equal(t, PTInUse, err)
	pt, err := n.PTAlloc(PTAllocDisabled, r.teq[0], PTAny)
	require.NoError(t, err)
	require.Equal(t, uint8(1), pt)
	require.False(t, n.PTEnabled(1))
	_, err = n.PTAlloc(0, 0, PTAny)
	require.Equal(t, PTFull, err)
	_, err = n.PTAlloc(0, 0, 2)
	require.ErrorIs(t, err, ArgInvalid)
	h := r.me(PriorityList, anyone(1))
	require.Equal(t, PTInUse, n.PTFree(0))
	require.NoError(t, n.MEUnlink(h))
	require.NoError(t, n.PTFree(0))
	require.ErrorIs(t, n.PTFree(0), ArgInvalid)
	require.NoError(t, n.PTFree(1))
	require.NoError(t, n.EQFree(r.teq[0]))
}

func TestUnallocatedPTDrops3_3_7(t *testing.T) {
	r := newRig(t, 0, 0)
	for _, pt := range []uint8{1, 63, 64, 255} {
		r.put(5, "x", func(q *Request) { q.PT = pt })
		require.Equal(t, FailDropped, only(t, r.initiator(), EventAck).Fail)
	}
	require.Equal(t, uint64(4), r.ni[0].Status().Dropped)
}

func TestPTOptionsRestrictEntries3_7_1(t *testing.T) {
	for o, bad := range map[PTOptions]MEOptions{PTOnlyUseOnce: 0, PTOnlyTruncate: MENoTruncate | MEUseOnce} {
		r := newRig(t, 0, o)
		m := anyone(1)
		m.Options = bad
		_, err := r.ni[0].MEAppend(0, &m, PriorityList)
		require.ErrorIs(t, err, ArgInvalid)
		m.Options = MEUseOnce
		r.me(PriorityList, m)
	}
}

func TestLimits3_6_1(t *testing.T) {
	small := func(l *Limits) {
		l.MaxEntries, l.MaxListSize, l.MaxMDs, l.MaxEQs, l.MaxCTs, l.MaxTriggeredOps = 3, 2, 1, 2, 1, 1
		l.MaxOperations, l.MaxMsgSize, l.MaxAtomicSize, l.MaxFetchAtomicSize = 1, 32, 16, 8
	}
	r := newRig(t, 0, 0, small)
	n := r.ni[1]
	_, err := n.EQAlloc(1)
	require.Equal(t, NoSpace, err)
	_, err = n.CTAlloc()
	require.Equal(t, NoSpace, err)
	_, err = n.MDBind(MemoryDescriptor{})
	require.Equal(t, NoSpace, err)
	q := Request{MD: r.md[1], GetMD: r.md[1], Length: 33, Target: r.process(0)}
	_, err = n.Put(&q)
	require.ErrorIs(t, err, ArgInvalid)
	q.Length, q.Op, q.Datatype = 17, OpSum, UInt8
	_, err = n.Atomic(&q)
	require.ErrorIs(t, err, ArgInvalid)
	q.Length = 9
	_, err = n.FetchAtomic(&q)
	require.ErrorIs(t, err, ArgInvalid)
	q.Length = 1
	_, err = n.Put(&q)
	require.NoError(t, err)
	_, err = n.Put(&q)
	require.Equal(t, NoSpace, err)
	require.NoError(t, n.TriggeredCTInc(r.ct[1], Count{Success: 1}, r.ct[1], 9))
	require.Equal(t, NoSpace, n.TriggeredCTInc(r.ct[1], Count{Success: 1}, r.ct[1], 9))
	r.me(PriorityList, anyone(1))
	r.me(OverflowList, anyone(1))
	m := anyone(1)
	_, err = r.ni[0].MEAppend(0, &m, PriorityList)
	require.Equal(t, ListTooLong, err)
}

func TestMDBindReleaseAndRange3_10(t *testing.T) {
	r := newRig(t, 0, 0)
	n := r.ni[1]
	_, err := n.MDBind(MemoryDescriptor{Start: rigMemory - 1, Length: 2})
	require.ErrorIs(t, err, ArgInvalid)
	_, err = n.MDBind(MemoryDescriptor{EQ: 1 << 31})
	require.ErrorIs(t, err, ArgInvalid)
	q := Request{MD: r.md[1], LocalOffset: rigMemory - 3, Length: 4, Target: r.process(0)}
	_, err = n.Put(&q)
	require.ErrorIs(t, err, ArgInvalid)
	q.LocalOffset = ^uint64(0)
	_, err = n.Put(&q)
	require.ErrorIs(t, err, ArgInvalid)
	q.LocalOffset = 0
	_, err = n.Put(&q)
	require.NoError(t, err)
	require.Equal(t, InUse, n.MDRelease(r.md[1]))
	r.run()
	require.NoError(t, n.MDRelease(r.md[1]))
	_, err = n.Put(&q)
	require.ErrorIs(t, err, ArgInvalid)
}

func TestNIInit3_6_2(t *testing.T) {
	for _, p := range []Process{Rank(RankAny), {0, 1}} {
		_, err := NewNI(0, p, 0, DefaultLimits(), nil)
		require.ErrorIs(t, err, ArgInvalid)
	}
	_, err := NewNI(NIPhysical, Process{1, PIDAny}, 0, DefaultLimits(), nil)
	require.ErrorIs(t, err, ArgInvalid)
	_, err = NewNI(8, Rank(0), 0, DefaultLimits(), nil)
	require.ErrorIs(t, err, ArgInvalid)
	r := newRig(t, 0, 0)
	p := Packet{Header: Header{Kind: KindPut, NI: uint8(NINoMatching)}}
	require.ErrorContains(t, r.ni[0].Deliver(&p), "reached interface 0")
}

func TestLastPlaceOfEventQueueIsUsed2_5(t *testing.T) {
	r := newRig(t, 0, 0)
	q, err := r.ni[0].EQAlloc(2)
	require.NoError(t, err)
	_, err = r.ni[0].PTAlloc(PTFlowControl, q, 1)
	require.NoError(t, err)
	m := anyone(5)
	m.UID, m.Options = UIDAny, MEOpPut|MEEventLinkDisable
	_, err = r.ni[0].MEAppend(1, &m, PriorityList)
	require.NoError(t, err)
	for _, enabled := range []bool{true, true, false} {
		r.put(5, "x", func(q *Request) { q.PT = 1 })
		require.Equal(t, enabled, r.ni[0].PTEnabled(1))
	}
	require.Equal(t, []EventKind{EventPut, EventPut, EventPTDisabled}, kinds(r.events(0, q)))
}
