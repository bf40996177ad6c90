package rportals

import (
	"testing"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/stretchr/testify/require"
)

// A pair is two processes: process 1 sends to entry 0 of process 0.
type pair struct {
	ni    [2]*portals.NI
	layer [2]*Layer

	memory [2]portals.Flat
}

const events = 8

func newPair(t testing.TB) *pair {
	p := &pair{}
	c := Config{
		Peers: []portals.Process{portals.Rank(0), portals.Rank(1)}, Control: 1, Protected: []uint8{0}, OriginEvents: 64,
		MemoryLength: 4096,
	}
	for i := range p.ni {
		p.memory[i] = make(portals.Flat, 4096)
		var err error
		p.ni[i], err = portals.NewNI(0, portals.Rank(uint32(i)), 0, portals.DefaultLimits(), p.memory[i])
		require.NoError(t, err)
		p.layer[i], err = New(p.ni[i], c)
		require.NoError(t, err)
		require.NoError(t, p.layer[i].PTAlloc(0, events))
	}
	_, err := p.ni[0].MEAppend(0, &portals.MatchEntry{
		Length: 4096, UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny), IgnoreBits: ^uint64(0),
		Options: portals.MEOpPut | portals.MEOpGet | portals.MEEventLinkDisable,
	}, portals.PriorityList)
	require.NoError(t, err)
	return p
}

// deliver moves all packets, and lets both layers handle their events.
func (p *pair) deliver(t testing.TB) {
	var packet portals.Packet
	for more := true; more; {
		more = false
		for i, n := range p.ni {
			for n.Next(&packet) {
				more = true
				if packet.Kind == portals.KindPut && n.Sent(packet.ID) != nil {
					t.Fatal("SEND")
				}
				if err := p.ni[packet.Target.NID].Deliver(&packet); err != nil {
					t.Fatal(i, err)
				}
			}
			if err := p.layer[i].Progress(); err != nil {
				t.Fatal(i, err)
			}
		}
	}
}

func request(length uint64) portals.Request {
	return portals.Request{Length: length, Ack: portals.FullAckReq, Target: portals.Rank(0)}
}

// Forty messages into a queue of eight events: the target reads only when the network is idle.
func TestDataSurviveRecoveries(t *testing.T) {
	p := newPair(t)
	for i := range 40 {
		p.memory[1][i] = byte(i + 1)
		r := request(1)
		r.LocalOffset, r.RemoteOffset, r.HdrData, r.UserPtr = uint64(i), uint64(i), uint64(i), uint64(i)
		require.NoError(t, p.layer[1].Put(&r))
	}
	next := 0
	for !p.layer[1].Idle() || next < 40 {
		p.deliver(t)
		for e := (portals.Event{}); ; next++ {
			err := p.layer[0].EQGet(0, &e)
			if err == portals.EQEmpty {
				break
			}
			require.NoError(t, err)
			require.Equal(t, uint64(next), e.HdrData)
		}
		for e := (portals.Event{}); p.layer[1].OriginGet(&e) == nil; {
			require.Equal(t, portals.FailNone, e.Fail)
		}
	}
	require.Equal(t, p.memory[1][:40], p.memory[0][:40])
	require.Equal(t, 4, p.layer[0].Stats().Recoveries)
	require.Greater(t, p.layer[1].Stats().Refused, 0)
}

func TestRequestsAreChecked(t *testing.T) {
	p := newPair(t)
	for want, change := range map[string]func(*portals.Request){
		"not among the 2 peers":            func(r *portals.Request) { r.Target = portals.Rank(7) },
		"not among the protected ones":     func(r *portals.Request) { r.PT = 5 },
		"the address space has 4096 bytes": func(r *portals.Request) { r.LocalOffset = 4096 },
		"only full acknowledgements":       func(r *portals.Request) { r.Ack = portals.CTAckReq },
	} {
		r := request(1)
		change(&r)
		err := p.layer[1].Put(&r)
		require.ErrorContains(t, err, want)
	}
	require.Error(t, p.layer[1].PTAlloc(3, 1))
	require.True(t, p.layer[1].Idle())
}

// A process that follows no protocol must not confuse the layer.
func TestForeignControlMessagesAreErrors(t *testing.T) {
	for want, data := range map[string]uint64{
		"expected PAUSE, PAUSE_ACK or UNPAUSE": 0,
		"one per recovery":                     encode(pauseAck, 0, 1, 1),
		"a PAUSE that was acknowledged":        encode(unpause, 0, 1, 1),
		"control message":                      encode(pause, 9, 1, 1),
	} {
		p := newPair(t)
		md, err := p.ni[1].MDBind(portals.MemoryDescriptor{})
		require.NoError(t, err)
		_, err = p.ni[1].Put(&portals.Request{MD: md, Target: portals.Rank(0), PT: 1, HdrData: data})
		require.NoError(t, err)
		var packet portals.Packet
		require.True(t, p.ni[1].Next(&packet))
		require.NoError(t, p.ni[0].Deliver(&packet))
		require.ErrorContains(t, p.layer[0].Progress(), want)
	}
}

// A PAUSE_ACK that is owed until an answer arrives, and then cannot be sent, is an error.
func TestLatePauseAckFails(t *testing.T) {
	p := newPair(t)
	r := request(1)
	require.NoError(t, p.layer[1].Put(&r))
	md, err := p.ni[0].MDBind(portals.MemoryDescriptor{})
	require.NoError(t, err)
	_, err = p.ni[0].Put(&portals.Request{MD: md, Target: portals.Rank(1), PT: 1, HdrData: encode(pause, 0, 1, 0)})
	require.NoError(t, err)
	var packet portals.Packet
	require.True(t, p.ni[0].Next(&packet))
	require.NoError(t, p.ni[1].Deliver(&packet))
	require.NoError(t, p.layer[1].Progress(), "the acknowledgement waits for the answer of the put")

	require.NoError(t, p.ni[1].MDRelease(p.layer[1].controlMD))
	for _, from := range []int{1, 0} { // the put and its answer
		require.True(t, p.ni[from].Next(&packet))
		if from == 1 {
			require.NoError(t, p.ni[1].Sent(packet.ID))
		}
		require.NoError(t, p.ni[1-from].Deliver(&packet))
	}
	require.ErrorContains(t, p.layer[1].Progress(), "PAUSE_ACK to peer 0")
}

func (p *pair) exchange(t testing.TB, r *portals.Request) {
	if err := p.layer[1].Put(r); err != nil {
		t.Fatal(err)
	}
	p.deliver(t)
	var e portals.Event
	if p.layer[0].EQGet(0, &e) != nil || p.layer[1].OriginGet(&e) != nil || p.layer[1].OriginGet(&e) != nil {
		t.Fatal("events are missing")
	}
}

func TestMessagesDoNotAllocate(t *testing.T) {
	p, r := newPair(t), request(8)
	once := func() { p.exchange(t, &r) }
	for range 100 {
		once()
	}
	require.Zero(t, testing.AllocsPerRun(100, once))
}

// BenchmarkPut is one message with all of its events; see BenchmarkBarePut.
func BenchmarkPut(b *testing.B) {
	p, r := newPair(b), request(8)
	b.ReportAllocs()
	for b.Loop() {
		p.exchange(b, &r)
	}
}

// BenchmarkBarePut is the same message without the layer: the difference is the cost of tracking.
func BenchmarkBarePut(b *testing.B) {
	p := newPair(b)
	eq, err := p.ni[1].EQAlloc(8)
	require.NoError(b, err)
	md, err := p.ni[1].MDBind(portals.MemoryDescriptor{Length: 4096, EQ: eq})
	require.NoError(b, err)
	r := request(8)
	r.MD = md
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.ni[1].Put(&r); err != nil {
			b.Fatal(err)
		}
		p.deliver(b)
		var e portals.Event
		if p.ni[0].EQGet(p.layer[0].targets[0].eq, &e) != nil || p.ni[1].EQGet(eq, &e) != nil || p.ni[1].EQGet(eq, &e) != nil {
			b.Fatal("events are missing")
		}
	}
}
