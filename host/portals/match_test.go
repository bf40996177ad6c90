package portals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatchBitsAndIgnoreBits3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(0xf0)
	m.IgnoreBits = 0x0f
	r.me(PriorityList, m)
	r.put(0xf7, "in")
	require.Equal(t, FailNone, only(t, r.initiator(), EventAck).Fail)
	r.put(0xe7, "out")
	require.Equal(t, FailDropped, only(t, r.initiator(), EventAck).Fail)
	require.Equal(t, "in", string(r.memory[0][100:102]))
}

func TestAppendOrderDecides3_12_2(t *testing.T) {
	r := newRig(t, 0, 0)
	for i := range uint64(3) {
		m := anyone(1)
		m.UserPtr, m.Options = i, MEUseOnce
		r.me(PriorityList, m)
	}
	for range 3 {
		r.put(1, "x")
	}
	var order []uint64
	for _, e := range r.target() {
		if e.Kind == EventPut {
			order = append(order, e.UserPtr)
		}
	}
	require.Equal(t, []uint64{0, 1, 2}, order)
}

func TestPriorityBeforeOverflow3_12(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.UserPtr = 7
	r.me(OverflowList, m)
	m.UserPtr = 8
	r.me(PriorityList, m)
	r.put(1, "x")
	e := only(t, r.target(), EventPut)
	require.Equal(t, uint64(8), e.UserPtr)
	require.Equal(t, PriorityList, e.List)
}

func TestMatchIDLogical3_9(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.MatchID = Rank(2)
	r.me(PriorityList, m)
	r.put(1, "x")
	require.Equal(t, FailDropped, only(t, r.initiator(), EventAck).Fail)
	m.MatchID = Rank(1)
	r.me(PriorityList, m)
	r.put(1, "x")
	require.Equal(t, FailNone, only(t, r.initiator(), EventAck).Fail)
}

func TestMatchIDPhysicalWildcards3_9(t *testing.T) {
	for _, c := range []struct {
		id   Process
		fits bool
	}{
		{Process{11, 21}, true}, {Process{NIDAny, 21}, true}, {Process{11, PIDAny}, true},
		{Process{11, 22}, false}, {Process{NIDAny, 22}, false}, {Process{12, PIDAny}, false},
	} {
		r := newRig(t, NIPhysical, 0)
		m := anyone(1)
		m.MatchID = c.id
		r.me(PriorityList, m)
		r.put(1, "x")
		require.Equal(t, c.fits, only(t, r.initiator(), EventAck).Fail == FailNone, "%v", c.id)
	}
}

func TestNonMatchingTakesFirstEntry3_11(t *testing.T) {
	r := newRig(t, NINoMatching, 0)
	for i := range uint64(2) {
		m := MatchEntry{Length: 16, UserPtr: i, MatchBits: 99, MatchID: Rank(2)} // not looked at
		r.me(PriorityList, m)
	}
	r.put(1, "x")
	require.Equal(t, uint64(0), only(t, r.target(), EventPut).UserPtr)
}

func TestUseOnceUnlinks3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.Options = MEUseOnce
	h := r.me(PriorityList, m)
	r.put(1, "x")
	require.Equal(t, []EventKind{EventPut, EventAutoUnlink}, kinds(r.target()))
	require.ErrorIs(t, r.ni[0].MEUnlink(h), ArgInvalid)
	r.put(1, "y")
	require.Equal(t, FailDropped, r.initiator()[3].Fail)
}

func TestManageLocalAndMinFree3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.Options, m.MinFree = MEManageLocal, 8
	r.me(PriorityList, m) // 16 bytes
	r.put(1, "abcd", func(q *Request) { q.RemoteOffset = 9 })
	require.Equal(t, []EventKind{EventPut}, kinds(r.target()))
	r.put(1, "efgh") // exactly 8 bytes remain: not below
	require.Equal(t, []EventKind{EventPut}, kinds(r.target()))
	r.put(1, "i")
	list := r.target()
	require.Equal(t, []EventKind{EventPut, EventAutoUnlink}, kinds(list))
	require.Equal(t, uint64(8), list[0].RemoteOffset)
	require.Equal(t, "abcdefghi", string(r.memory[0][100:109]))
}

func TestTruncation3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(1))
	r.put(1, "0123456789abcdefXYZ")
	e := only(t, r.target(), EventPut)
	require.Equal(t, [2]uint64{19, 16}, [2]uint64{e.RLength, e.MLength})
	require.Equal(t, uint64(16), only(t, r.initiator(), EventAck).MLength)
	require.Equal(t, byte(0), r.memory[0][116])
}

func TestNoTruncateContinues3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.Options, m.UserPtr = MENoTruncate, 1
	r.me(PriorityList, m)
	m.Options, m.UserPtr, m.Length = 0, 2, 64
	r.me(PriorityList, m)
	r.put(1, "0123456789abcdefXYZ")
	require.Equal(t, uint64(2), only(t, r.target(), EventPut).UserPtr)
}

func TestOffsetBeyondEndIsTruncatedToNothing3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(1))
	r.put(1, "abc", func(q *Request) { q.RemoteOffset = 1 << 63 })
	require.Equal(t, uint64(0), only(t, r.target(), EventPut).MLength)
	r.put(1, "")
	require.Equal(t, uint64(0), only(t, r.target(), EventPut).RLength)
}

func TestPermissionAndOperationViolations3_3_7(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.UID, m.Options = 55, MEOpPut
	_, err := r.ni[0].MEAppend(0, &m, PriorityList)
	require.NoError(t, err)
	r.me(PriorityList, anyone(1)) // a violation does not continue with the next entry
	r.put(1, "x")
	require.Equal(t, FailPermViolation, only(t, r.initiator(), EventAck).Fail)
	m = anyone(2)
	m.UID, m.Options = UIDAny, MEOpPut
	_, err = r.ni[0].MEAppend(0, &m, PriorityList)
	require.NoError(t, err)
	r.get(2, 4)
	require.Equal(t, FailOpViolation, only(t, r.initiator(), EventReply).Fail)
	require.Equal(t, Status{PermissionViolations: 1, OperationViolations: 1}, r.ni[0].Status())
}

func TestUnlink3_12_3(t *testing.T) {
	r := newRig(t, 0, 0)
	h := r.me(PriorityList, anyone(1))
	over := r.me(OverflowList, anyone(2))
	r.put(2, "x")
	require.NoError(t, r.ni[0].MEUnlink(h))
	require.ErrorIs(t, r.ni[0].MEUnlink(h), ArgInvalid)
	require.ErrorIs(t, r.ni[0].MEUnlink(over), InUse)
	r.me(PriorityList, func() MatchEntry { m := anyone(2); m.Options = MEUseOnce; return m }())
	require.NoError(t, r.ni[0].MEUnlink(over))
}

func TestUnexpectedHeaders3_12_2(t *testing.T) {
	r := newRig(t, 0, 0)
	over := anyone(0)
	over.IgnoreBits, over.Options, over.Length = ^uint64(0), MEManageLocal, 64
	r.me(OverflowList, over)
	for _, s := range []string{"one", "two", "three"} {
		r.put(5, s, func(q *Request) { q.HdrData = uint64(len(s)) })
	}
	require.Equal(t, OverflowList, r.target()[0].List)
	m := anyone(5)
	m.Options, m.UserPtr = MEUseOnce, 9
	h := r.me(PriorityList, m)
	list := r.target()
	require.Equal(t, []EventKind{EventPutOverflow, EventAutoUnlink}, kinds(list))
	require.Equal(t, [4]uint64{100, 3, 3, 9}, [4]uint64{list[0].Start, list[0].MLength, list[0].HdrData, list[0].UserPtr})
	require.ErrorIs(t, r.ni[0].MEUnlink(h), ArgInvalid)
	m.Options = 0 // a persistent entry takes all headers and is linked
	r.me(PriorityList, m)
	list = r.target()
	require.Equal(t, []EventKind{EventPutOverflow, EventPutOverflow}, kinds(list))
	require.Equal(t, [2]uint64{103, 106}, [2]uint64{list[0].Start, list[1].Start})
	r.put(5, "four")
	require.Equal(t, PriorityList, only(t, r.target(), EventPut).List)
}

func TestUnexpectedHeaderOfOtherSourceStays3_12_2(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(OverflowList, anyone(5))
	r.put(5, "x")
	m := anyone(5)
	m.MatchID = Rank(2)
	r.me(PriorityList, m)
	require.Equal(t, []EventKind{EventPut}, kinds(r.target()))
}

func TestUnexpectedHdrDisable3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	over := anyone(5)
	over.Options = MEUnexpectedHdrDisable | MEUseOnce
	r.me(OverflowList, over)
	r.put(5, "x")
	require.Equal(t, []EventKind{EventPut, EventAutoUnlink, EventAutoFree}, kinds(r.target()))
	r.me(PriorityList, anyone(5))
	require.Empty(t, r.target())
}

func TestAutoFreeAfterLastHeader3_13_1(t *testing.T) {
	r := newRig(t, 0, 0)
	over := anyone(0)
	over.IgnoreBits, over.Options, over.MinFree = ^uint64(0), MEManageLocal, 16
	r.me(OverflowList, over)
	r.put(5, "x")
	require.Equal(t, []EventKind{EventPut, EventAutoUnlink}, kinds(r.target()))
	m := anyone(5)
	m.Options = MEUseOnce
	r.me(PriorityList, m)
	require.Equal(t, []EventKind{EventPutOverflow, EventAutoFree, EventAutoUnlink}, kinds(r.target()))
}

func TestSearch3_12_4(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(OverflowList, anyone(5))
	r.put(5, "one")
	r.put(5, "two!")
	r.target()
	m := anyone(5)
	m.UserPtr = 3
	require.NoError(t, r.ni[0].MESearch(0, &m, SearchOnly))
	e := only(t, r.target(), EventSearch)
	require.Equal(t, [3]uint64{3, 3, uint64(FailNone)}, [3]uint64{e.UserPtr, e.RLength, uint64(e.Fail)})
	m.Options = MEUseOnce
	require.NoError(t, r.ni[0].MESearch(0, &m, SearchDelete))
	require.Equal(t, uint64(3), only(t, r.target(), EventPutOverflow).MLength)
	m.Options = 0
	require.NoError(t, r.ni[0].MESearch(0, &m, SearchDelete))
	require.Equal(t, uint64(4), only(t, r.target(), EventPutOverflow).MLength)
	for _, op := range []SearchOp{SearchOnly, SearchDelete} {
		require.NoError(t, r.ni[0].MESearch(0, &m, op))
		require.Equal(t, FailNoMatch, only(t, r.target(), EventSearch).Fail)
	}
}

func TestSearchNeverLinksNorCounts3_12_4(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(OverflowList, anyone(5))
	r.put(5, "x")
	m := anyone(5)
	m.CT, m.Options = r.ct[0], MEEventCTOverflow
	require.NoError(t, r.ni[0].MESearch(0, &m, SearchDelete))
	c, _ := r.ni[0].CTGet(r.ct[0])
	require.Zero(t, c)
	m.Options |= MEUseOnce
	require.NoError(t, r.ni[0].MESearch(0, &m, SearchDelete))
	r.target()
	r.put(5, "y")
	require.Equal(t, OverflowList, only(t, r.target(), EventPut).List)
}

func TestGetAndAtomicOverflow3_13_1(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(OverflowList, anyone(5))
	r.get(5, 4)
	q := &Request{MD: r.md[1], GetMD: r.md[1], Length: 4, Target: r.process(0), MatchBits: 5, Op: OpSum, Datatype: UInt32}
	_, err := r.ni[1].Atomic(q)
	require.NoError(t, err)
	_, err = r.ni[1].FetchAtomic(q)
	require.NoError(t, err)
	r.run()
	require.Equal(t, []EventKind{EventGet, EventAtomic, EventFetchAtomic}, kinds(r.target()))
	r.me(PriorityList, anyone(5))
	require.Equal(t, []EventKind{EventGetOverflow, EventAtomicOverflow, EventFetchAtomicOverflow}, kinds(r.target()))
}

func TestLocalIncUHRLength3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(OverflowList, anyone(5))
	r.put(5, "abc")
	m := anyone(5)
	m.Start, m.Options = 100, MEManageLocal|MELocalIncUHRLength
	r.me(PriorityList, m)
	r.put(5, "d")
	require.Equal(t, byte('d'), r.memory[0][203])
}

func TestNoTruncateExactFit3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.Options = MENoTruncate
	r.me(PriorityList, m)
	r.put(1, "0123456789abcdef")
	require.Equal(t, FailNone, only(t, r.initiator(), EventAck).Fail)
}

func TestLocalOffsetAdvancesByWhatWasDelivered3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(1)
	m.Options = MEManageLocal
	r.me(PriorityList, m)
	for _, want := range [][2]uint64{{0, 12}, {12, 4}, {16, 0}} { // offset and length
		r.put(1, "0123456789ab")
		e := only(t, r.target(), EventPut)
		require.Equal(t, want, [2]uint64{e.RemoteOffset, e.MLength})
	}
}

func TestSearchDeleteWithPersistentEntryTakesAll3_12_4(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(OverflowList, anyone(5))
	r.put(5, "one")
	r.put(5, "two!")
	r.target()
	m := anyone(5)
	require.NoError(t, r.ni[0].MESearch(0, &m, SearchDelete))
	require.Equal(t, []EventKind{EventPutOverflow, EventPutOverflow}, kinds(r.target()))
}
