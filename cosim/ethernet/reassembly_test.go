package ethernet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func fragment(offset int, more bool, data []byte) *packet {
	return &packet{offset: offset, more: more, payload: data}
}

// TestReassembly: fragments in any order, with repetitions, give the datagram.
func TestReassembly(t *testing.T) {
	want := pattern(1003, 5)
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var list []*packet
		for at := 0; at < len(want); {
			n := min((1+r.IntN(20))*8, len(want)-at)
			list = append(list, fragment(at, at+n < len(want), want[at:at+n]))
			at += n
		}
		list = append(list, list[0])
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var x reassembly
		for _, p := range list {
			require.True(t, x.add(p))
		}
		require.True(t, x.isComplete())
		require.True(t, bytes.Equal(want, x.data))
	}
}

// TestContradictions: fragments that overlap or disagree about the length end the reassembly.
func TestContradictions(t *testing.T) {
	for name, second := range map[string]*packet{
		"overlaps the front":  fragment(0, true, make([]byte, 24)),
		"overlaps the end":    fragment(24, true, make([]byte, 16)),
		"same start":          fragment(16, true, make([]byte, 8)),
		"not a multiple of 8": fragment(64, true, make([]byte, 9)),
		"ends before others":  fragment(0, false, make([]byte, 8)),
		"beyond 64 KB":        fragment(65512, false, make([]byte, 8)),
		"empty":               fragment(64, false, nil),
	} {
		var x reassembly
		require.True(t, x.add(fragment(16, true, make([]byte, 16))))
		require.False(t, x.add(second), name)
	}
}

// FuzzFrame: a host survives any frame, and its memory for fragments is accounted for.
func FuzzFrame(f *testing.F) {
	f.Add(encodeFrame(0, 1, packet{from: Address(0), to: Address(1), protocol: protocolUDP, more: true, payload: make([]byte, 16)}), byte(0))
	f.Add([]byte{}, byte(3))
	f.Fuzz(func(t *testing.T, b []byte, flips byte) {
		n := open(t, Config{})
		bind(t, n, 1)
		whole := encodeFrame(0, 1, packet{
			from: Address(0), to: Address(1), protocol: protocolUDP, offset: int(flips) * 8,
			more: flips&1 != 0, payload: b[:min(len(b), 1400)],
		})
		for _, data := range [][]byte{b, whole, whole} {
			n.hosts[1].receive(data)
		}
		stored := 0
		for _, r := range n.hosts[1].partial {
			stored += r.stored
		}
		require.Equal(t, stored, n.hosts[1].partialBytes)
		settle(n)
		require.Zero(t, n.hosts[1].partialBytes)
	})
}
