package portals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPutEvents3_15_2(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(5)
	m.UserPtr = 77
	r.me(PriorityList, m)
	r.put(5, "data", func(q *Request) { q.UserPtr, q.HdrData, q.RemoteOffset = 66, 55, 2 })
	list := r.initiator()
	require.Equal(t, []EventKind{EventSend, EventAck}, kinds(list))
	require.Equal(t, uint64(66), list[0].UserPtr)
	require.Equal(t, [3]uint64{66, 4, 2}, [3]uint64{list[1].UserPtr, list[1].MLength, list[1].RemoteOffset})
	e := only(t, r.target(), EventPut)
	require.Equal(t, Event{
		Kind: EventPut, UID: 101, Initiator: Rank(1), MatchBits: 5, RLength: 4, MLength: 4, RemoteOffset: 2, Start: 102,
		UserPtr: 77, HdrData: 55,
	}, e)
}

func TestGetEvents3_15_3(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	copy(r.memory[0][100:], "0123456789abcdef")
	r.get(5, 20) // longer than the entry
	e := only(t, r.initiator(), EventReply)
	require.Equal(t, uint64(16), e.MLength)
	require.Equal(t, "0123456789abcdef\x00", string(r.memory[1][:17]))
	require.Equal(t, uint64(16), only(t, r.target(), EventGet).MLength)
	r.get(5, 0)
	require.Equal(t, FailNone, only(t, r.initiator(), EventReply).Fail)
}

func TestReplyDoesNotWriteBeyondItsRequest3_15_3(t *testing.T) {
	r := newRig(t, 0, 0)
	id, err := r.ni[1].Get(&Request{MD: r.md[1], Length: 4, Target: r.process(0), MatchBits: 5})
	require.NoError(t, err)
	p := Packet{Header: Header{Kind: KindReply, Source: r.process(0), ID: id, Length: 5}, Payload: []byte("hello")}
	require.ErrorContains(t, r.ni[1].Deliver(&p), "does not fit its operation")
	require.Equal(t, byte(0), r.memory[1][0])
}

func TestAckKinds3_15_1(t *testing.T) {
	for _, c := range []struct {
		ack    AckReq
		events int
		hit    Count // of a message of 4 bytes that matches
		miss   Count
	}{
		{NoAckReq, 1, Count{}, Count{}},
		{FullAckReq, 2, Count{1, 0}, Count{1, 1}},
		{CTAckReq, 1, Count{1, 0}, Count{1, 1}},
		{OCAckReq, 1, Count{1, 0}, Count{2, 0}},
	} {
		r := newRig(t, 0, 0)
		r.me(PriorityList, anyone(5))
		for i, want := range []Count{c.hit, c.miss} {
			r.put(uint64(5+i), "data", func(q *Request) { q.Ack = c.ack })
			got, _ := r.ni[1].CTGet(r.ct[1])
			require.Equal(t, want, got, "acknowledgement %d", c.ack)
			require.Len(t, r.initiator(), c.events)
		}
		require.NoError(t, r.ni[1].MDRelease(r.md[1]), "an operation is still pending")
	}
}

func TestAckDisable3_12_1(t *testing.T) {
	r := newRig(t, 0, 0)
	m := anyone(5)
	m.Options = MEAckDisable
	r.me(PriorityList, m)
	r.put(5, "x")
	require.Equal(t, []EventKind{EventSend}, kinds(r.initiator()))
	require.NoError(t, r.ni[1].MDRelease(r.md[1]), "the operation must end all the same")
}

func TestMDEventOptions3_10_1(t *testing.T) {
	for _, c := range []struct {
		o     MDOptions
		kinds []EventKind
		count Count
	}{
		{MDEventSuccessDisable, nil, Count{}},
		{MDEventSendDisable, []EventKind{EventAck}, Count{}},
		{MDEventCTSend, []EventKind{EventSend, EventAck}, Count{Success: 1}},
		{MDEventCTSend | MDEventCTAck, []EventKind{EventSend, EventAck}, Count{Success: 2}},
		{MDEventCTSend | MDEventCTAck | MDEventCTBytes, []EventKind{EventSend, EventAck}, Count{Success: 20 + 16}},
	} {
		r := newRig(t, 0, 0)
		r.me(PriorityList, anyone(5))
		md, err := r.ni[1].MDBind(MemoryDescriptor{Length: 64, EQ: r.eq[1], CT: r.ct[1], Options: c.o})
		require.NoError(t, err)
		r.put(5, "0123456789abcdefghij", func(q *Request) { q.MD = md })
		require.Equal(t, c.kinds, kinds(r.initiator()), "options %b", c.o)
		got, _ := r.ni[1].CTGet(r.ct[1])
		require.Equal(t, c.count, got, "options %b", c.o)
	}
}

func TestFailuresAreReportedDespiteSuccessDisable3_13_3(t *testing.T) {
	r := newRig(t, 0, 0)
	md, err := r.ni[1].MDBind(MemoryDescriptor{Length: 64, EQ: r.eq[1], Options: MDEventSuccessDisable})
	require.NoError(t, err)
	r.put(5, "x", func(q *Request) { q.MD = md })
	require.Equal(t, FailDropped, only(t, r.initiator(), EventAck).Fail)
}

func TestMEEventOptions3_12_1(t *testing.T) {
	for _, c := range []struct {
		o     MEOptions
		kinds []EventKind
		count Count
	}{
		{0, []EventKind{EventLink, EventPut, EventAutoUnlink}, Count{}},
		{MEEventLinkDisable, []EventKind{EventPut, EventAutoUnlink}, Count{}},
		{MEEventCommDisable, []EventKind{EventLink, EventAutoUnlink}, Count{}},
		{MEEventSuccessDisable, []EventKind{EventLink, EventAutoUnlink}, Count{}},
		{MEEventUnlinkDisable, []EventKind{EventLink, EventPut}, Count{}},
		{MEEventCTComm, []EventKind{EventLink, EventPut, EventAutoUnlink}, Count{Success: 1}},
		{MEEventCTComm | MEEventCTBytes | MEEventCommDisable, []EventKind{EventLink, EventAutoUnlink}, Count{Success: 16}},
	} {
		r := newRig(t, 0, 0)
		m := anyone(5)
		m.UID, m.CT, m.Options = UIDAny, r.ct[0], c.o|MEOpPut|MEUseOnce
		_, err := r.ni[0].MEAppend(0, &m, PriorityList)
		require.NoError(t, err)
		r.put(5, "0123456789abcdefghij")
		require.Equal(t, c.kinds, kinds(r.target()), "options %b", c.o)
		got, _ := r.ni[0].CTGet(r.ct[0])
		require.Equal(t, c.count, got, "options %b", c.o)
	}
}

func TestOverflowEventOptions3_12_1(t *testing.T) {
	for _, c := range []struct {
		o     MEOptions
		kinds []EventKind
		count Count
	}{
		{0, []EventKind{EventPutOverflow}, Count{}},
		{MEEventOverDisable, nil, Count{}},
		{MEEventCTOverflow, []EventKind{EventPutOverflow}, Count{Success: 1}},
		{MEEventCTOverflow | MEEventCTBytes | MEEventOverDisable, nil, Count{Success: 3}},
	} {
		r := newRig(t, 0, 0)
		r.me(OverflowList, anyone(5))
		r.put(5, "abc")
		r.target()
		m := anyone(5)
		m.CT, m.Options = r.ct[0], c.o
		r.me(PriorityList, m)
		require.Equal(t, c.kinds, kinds(r.target()), "options %b", c.o)
		got, _ := r.ni[0].CTGet(r.ct[0])
		require.Equal(t, c.count, got, "options %b", c.o)
	}
}

func TestEQOrderEmptyAndOverflow3_13_7(t *testing.T) {
	r := newRig(t, 0, 0)
	q, err := r.ni[0].EQAlloc(2)
	require.NoError(t, err)
	pt, err := r.ni[0].PTAlloc(0, q, PTAny)
	require.NoError(t, err)
	var e Event
	require.Equal(t, EQEmpty, r.ni[0].EQGet(q, &e))
	for i := range uint64(3) {
		_, err := r.ni[0].MEAppend(pt, &MatchEntry{UserPtr: i}, PriorityList) // raises LINK
		require.NoError(t, err)
	}
	require.Equal(t, EQDropped, r.ni[0].EQGet(q, &e))
	require.Equal(t, uint64(1), e.UserPtr)
	require.NoError(t, r.ni[0].EQGet(q, &e))
	require.Equal(t, uint64(2), e.UserPtr)
	require.Equal(t, EQEmpty, r.ni[0].EQGet(q, &e))
	require.ErrorIs(t, r.ni[0].EQFree(q), InUse)
}

func TestEQPoll3_13_9(t *testing.T) {
	r := newRig(t, 0, 0)
	var e Event
	_, err := r.ni[1].EQPoll([]EQ{r.teq[1], r.eq[1]}, &e)
	require.Equal(t, EQEmpty, err)
	r.put(5, "x")
	which, err := r.ni[1].EQPoll([]EQ{r.teq[1], r.eq[1]}, &e)
	require.NoError(t, err)
	require.Equal(t, 1, which)
	require.Equal(t, EventSend, e.Kind)
	_, err = r.ni[1].EQPoll([]EQ{1 << 30}, &e)
	require.ErrorIs(t, err, ArgInvalid)
}

func TestCounters3_14(t *testing.T) {
	r := newRig(t, 0, 0)
	n, c := r.ni[0], r.ct[0]
	require.NoError(t, n.CTSet(c, Count{4, 0}))
	require.NoError(t, n.CTInc(c, Count{Success: 3}))
	v, err := n.CTGet(c)
	require.NoError(t, err)
	require.Equal(t, Count{7, 0}, v)
	require.ErrorIs(t, n.CTInc(c, Count{1, 1}), ArgInvalid)
	other, err := n.CTAlloc()
	require.NoError(t, err)
	_, _, err = n.CTPoll([]CT{other, c}, []uint64{1, 8})
	require.Equal(t, CTNoneReached, err)
	which, v, err := n.CTPoll([]CT{other, c}, []uint64{1, 7})
	require.NoError(t, err)
	require.Equal(t, 1, which)
	require.Equal(t, Count{7, 0}, v)
	require.NoError(t, n.CTInc(other, Count{Failure: 1}))
	which, _, err = n.CTPoll([]CT{other, c}, []uint64{1, 8})
	require.NoError(t, err)
	require.Equal(t, 0, which, "a failure ends the waiting")
	require.NoError(t, n.CTFree(other))
	require.ErrorIs(t, n.CTFree(other), ArgInvalid)
	require.ErrorIs(t, n.CTFree(c), InUse, "of a memory descriptor")
}

func TestUndeliverable3_13_3(t *testing.T) {
	r := newRig(t, 0, 0)
	id, err := r.ni[1].Put(&Request{MD: r.md[1], Length: 4, Ack: FullAckReq, Target: r.process(0)})
	require.NoError(t, err)
	require.NoError(t, r.ni[1].Undeliverable(id))
	list := r.initiator()
	require.Equal(t, []EventKind{EventSend, EventAck}, kinds(list))
	require.Equal(t, FailUndeliverable, list[0].Fail)
	require.Error(t, r.ni[1].Sent(id))
	require.Error(t, r.ni[1].Undeliverable(id))
	require.NoError(t, r.ni[1].MDRelease(r.md[1]))
}

func TestStaleAndRepeatedAnswersAreErrors(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	id, err := r.ni[1].Put(&Request{MD: r.md[1], Length: 4, Ack: FullAckReq, Target: r.process(0), MatchBits: 5})
	require.NoError(t, err)
	ack := Packet{Header: Header{Kind: KindAck, Ack: FullAckReq, Source: r.process(0), ID: id, Length: 4}}
	wrong := ack
	wrong.Source = r.process(2)
	require.Error(t, r.ni[1].Deliver(&wrong))
	require.NoError(t, r.ni[1].Deliver(&ack))
	require.Error(t, r.ni[1].Deliver(&ack), "an acknowledgement that comes twice")
	require.NoError(t, r.ni[1].Sent(id))
	require.Error(t, r.ni[1].Sent(id))
	require.Error(t, r.ni[1].Deliver(&ack), "an acknowledgement of an operation of the past")
	require.Len(t, r.initiator(), 2)
}

func TestTargetMemoryThatIsGoneIsSegv3_13_3(t *testing.T) {
	r := newRig(t, 0, 0)
	r.me(PriorityList, anyone(5))
	r.ni[0].memory = Flat{}
	r.put(5, "x")
	require.Equal(t, FailSegv, only(t, r.initiator(), EventAck).Fail)
	require.Equal(t, FailSegv, only(t, r.target(), EventPut).Fail)
}
