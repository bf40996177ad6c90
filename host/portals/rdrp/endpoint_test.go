package rdrp

import (
	"testing"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rportals"
	"github.com/stretchr/testify/require"
)

// A rig is two endpoints that are joined by an ideal network.
type rig struct {
	t      *testing.T
	ni     [2]*portals.NI
	memory [2]portals.Flat
	ep     [2]*Endpoint
}

const rigMemory = 4096

func newRig(t *testing.T, change func(*Config, *portals.Limits)) *rig {
	r := &rig{t: t}
	for i := range r.ni {
		c := Config{
			Gets: 1, FirstChunk: 16, Chunk: 32, InFlight: 2, Nonces: 2, Requests: 8, Bounces: 1, BounceBase: 2048,
			MemoryLength: rigMemory,
		}
		limits := portals.DefaultLimits()
		if change != nil {
			change(&c, &limits)
		}
		r.memory[i] = make(portals.Flat, rigMemory)
		var err error
		r.ni[i], err = portals.NewNI(0, portals.Rank(uint32(i)), 0, limits, r.memory[i])
		require.NoError(t, err)
		r.ep[i], err = New(r.ni[i], r.memory[i], c)
		require.NoError(t, err)
	}
	for i := range 1024 {
		r.memory[0][i] = byte(i*7 + 1)
	}
	return r
}

// run delivers all packets; no endpoint makes progress.
func (r *rig) run() {
	for moved := true; moved; {
		moved = false
		for _, n := range r.ni {
			for p := (portals.Packet{}); n.Next(&p); moved = true {
				q, err := portals.DecodePacket(p.AppendTo(nil))
				require.NoError(r.t, err)
				if p.Kind == portals.KindPut {
					require.NoError(r.t, n.Sent(p.ID))
				}
				require.NoError(r.t, r.ni[p.Target.NID].Deliver(&q))
			}
		}
	}
}

// Between the call of Progress that reads the match and the last chunk neither side makes a call.
func TestChunksNeedNoSoftware(t *testing.T) {
	r := newRig(t, nil)
	send, err := r.ep[0].Send(Message{Peer: 1, Tag: 3, Length: 1000})
	require.NoError(t, err)
	receive, err := r.ep[1].Receive(Message{Peer: 0, Tag: AnyTag, Start: 64, Length: 1000})
	require.NoError(t, err)
	r.run()
	require.NoError(t, r.ep[1].Progress())
	r.run()
	require.Equal(t, r.memory[0][:1000], r.memory[1][64:1064])
	require.NoError(t, r.ep[1].Progress())
	require.NoError(t, r.ep[0].Progress())
	s, isDone := r.ep[1].Take(receive)
	require.True(t, isDone)
	require.Equal(t, Status{Tag: 3, Length: 1000}, s)
	_, isDone = r.ep[0].Take(send)
	require.True(t, isDone)
	_, isDone = r.ep[0].Take(send)
	require.False(t, isDone, "a status is taken once")
}

// A send without resources changes nothing: later sends find all nonces, entries and counters.
func TestSendWithoutResources(t *testing.T) {
	r := newRig(t, func(c *Config, l *portals.Limits) { c.Nonces, c.Bounces, l.MaxListSize = 1, 0, 3 })
	var sends []ID
	for range 2 { // an entry with the nonce, then two for one use
		id, err := r.ep[0].Send(Message{Peer: 1, Tag: 1, Length: 80})
		require.NoError(t, err)
		sends = append(sends, id)
	}
	_, err := r.ep[0].Send(Message{Peer: 1, Tag: 1, Length: 80})
	require.ErrorIs(t, err, portals.ListTooLong)
	for range 2 {
		_, err := r.ep[1].Receive(Message{Peer: 0, Tag: 1, Length: 80})
		require.NoError(t, err)
	}
	for range 4 {
		r.run()
		require.NoError(t, r.ep[0].Progress())
		require.NoError(t, r.ep[1].Progress())
	}
	for _, id := range sends {
		_, isDone := r.ep[0].Take(id)
		require.True(t, isDone)
	}
	require.Equal(t, []uint16{1}, r.ep[0].nonces)
	for range 2 {
		_, err := r.ep[0].Send(Message{Peer: 1, Tag: 1, Length: 80})
		require.NoError(t, err, "the entries of the refused send must be gone")
	}
}

func TestRequestsAreLimited(t *testing.T) {
	r := newRig(t, func(c *Config, _ *portals.Limits) { c.Requests = 1 })
	id, err := r.ep[1].Receive(Message{Tag: 1})
	require.NoError(t, err)
	_, err = r.ep[1].Receive(Message{Tag: 1})
	require.ErrorIs(t, err, portals.NoSpace)
	cancelled, err := r.ep[1].Cancel(id)
	require.NoError(t, err)
	require.True(t, cancelled)
	s, isDone := r.ep[1].Take(id)
	require.True(t, isDone)
	require.True(t, s.IsCancelled)
	_, err = r.ep[1].Receive(Message{Tag: 1})
	require.NoError(t, err)
}

// A message that finds neither a receive nor an overflow buffer is lost; the sender learns it.
func TestLostMessageIsReported(t *testing.T) {
	r := newRig(t, func(c *Config, _ *portals.Limits) { c.Bounces = 0 })
	eager, err := r.ep[0].Send(Message{Peer: 1, Tag: 1, Length: 1})
	require.NoError(t, err)
	r.run()
	require.ErrorContains(t, r.ep[0].Progress(), "a message to rank 1 was lost: ACK with DROPPED")
	_, isDone := r.ep[0].Take(eager)
	require.True(t, isDone)
	long, err := r.ep[0].Send(Message{Peer: 1, Tag: 1, Length: 100})
	require.NoError(t, err)
	r.run()
	require.NoError(t, r.ep[0].Progress())
	s, isDone := r.ep[0].Take(long)
	require.True(t, isDone)
	require.Equal(t, portals.FailDropped, s.Fail)
}

func TestInvalidArguments(t *testing.T) {
	r := newRig(t, nil)
	_, err := r.ep[0].Send(Message{Peer: 1, Tag: AnyTag})
	require.ErrorContains(t, err, "send with tag -1: expected 0 or more")
	_, err = r.ep[0].Send(Message{Peer: 1, Start: rigMemory, Length: 1})
	require.ErrorContains(t, err, "the address space has 4096 bytes")
	_, err = r.ep[0].Receive(Message{Tag: -2})
	require.ErrorContains(t, err, "receive with tag -2")
	for _, c := range []Config{
		{}, {Gets: 1}, {Gets: 1, FirstChunk: 1, Chunk: 1, InFlight: 1, Requests: 1, Nonces: 1 << 16},
	} {
		_, err := New(r.ni[0], r.memory[0], c)
		require.Error(t, err)
	}
}

// With a layer of package rportals nothing is lost: eight messages without overflow buffers, sent
// before their receives are posted.
func TestLayerRepeatsMessages(t *testing.T) {
	r := newRig(t, func(c *Config, _ *portals.Limits) { c.Bounces = 0 })
	for i := range r.ni {
		limits := portals.DefaultLimits()
		n, err := portals.NewNI(0, portals.Rank(uint32(i)), 0, limits, r.memory[i])
		require.NoError(t, err)
		layer, err := rportals.New(n, rportals.Config{
			Peers: []portals.Process{portals.Rank(0), portals.Rank(1)}, Control: 2, Protected: []uint8{0}, OriginEvents: 4,
			MemoryLength: rigMemory,
		})
		require.NoError(t, err)
		c := r.ep[i].config
		c.Layer = layer
		r.ni[i] = n
		r.ep[i], err = New(n, r.memory[i], c)
		require.NoError(t, err)
	}
	var sends, receives []ID
	step := func() {
		r.run()
		require.NoError(t, r.ep[0].Progress())
		require.NoError(t, r.ep[1].Progress())
	}
	for i := range 8 {
		id, err := r.ep[0].Send(Message{Peer: 1, Tag: 1, Start: uint64(100 * i), Length: uint64(10 * (i + 1))})
		require.NoError(t, err)
		sends = append(sends, id)
		step()
	}
	for i := range 8 {
		id, err := r.ep[1].Receive(Message{Peer: 0, Tag: AnyTag, Start: uint64(100 * i), Length: 100})
		require.NoError(t, err)
		receives = append(receives, id)
	}
	for range 100 {
		step()
	}
	for i := range 8 {
		_, isDone := r.ep[0].Take(sends[i])
		require.True(t, isDone, "send %d", i)
		s, isDone := r.ep[1].Take(receives[i])
		require.True(t, isDone, "receive %d", i)
		require.EqualValues(t, 10*(i+1), s.Length, "messages must keep their order")
		require.Equal(t, r.memory[0][100*i:][:10*(i+1)], r.memory[1][100*i:][:10*(i+1)])
	}
	require.Positive(t, r.ep[1].config.Layer.Stats().Recoveries)
}
