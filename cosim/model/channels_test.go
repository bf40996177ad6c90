package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/nic"
)

// A channel is the buffer behind a wire: of a router's input or, with port -1, of a NIC's ejection,
// where router is the node.
type channel struct {
	router, port int
	vc           uint8
}

// waiting is the dependency graph of channels: from a channel to the next one of a packet in it,
// and from an ejection to the channels that the unit behind it, or software, needs to make
// progress.
type waiting map[channel]map[channel]bool

func (w waiting) add(from, to channel) {
	if w[from] == nil {
		w[from] = map[channel]bool{}
	}
	w[from][to] = true
}

// behind lists the sources on which the unit behind an ejection depends, besides memory, by the
// source of the packets that it receives. A mailbox depends on software, which may read it only
// after an RMA operation of its own has completed; the responder depends on sending its answers.
// Answers depend on memory only (and on a ring that software reads while it waits for them).
var behind = map[nic.Source][]nic.Source{
	nic.SourceVELO:    {nic.SourceRequest, nic.SourceAnswer},
	nic.SourceRequest: {nic.SourceAnswer},
}

// graph follows a packet of each source from each node to each other node, by the routes of a
// topology.
func graph(t fabric.Topology, class func(nic.Source) uint8) waiting {
	w, stands := waiting{}, map[int]channel{}
	for r := range t.Routers() {
		for port := range t.Ports(r) {
			if node, ok := t.Node(r, port); ok {
				stands[node] = channel{router: r, port: port}
			}
		}
	}
	for s := range nic.Sources {
		for node := range t.Nodes() {
			for dst := range t.Nodes() {
				at := stands[node]
				at.vc = class(s)
				for {
					out := t.Port(at.router, dst)
					vc := t.VC(at.router, at.port, at.vc, out)
					if _, ok := t.Node(at.router, out); ok {
						w.add(at, channel{dst, -1, vc})
						break
					}
					peer, back, _ := t.Link(at.router, out)
					next := channel{peer, back, vc}
					w.add(at, next)
					at = next
				}
			}
			for _, first := range behind[s] {
				at := stands[node]
				w.add(channel{node, -1, class(s)}, channel{at.router, at.port, class(first)})
			}
		}
	}
	return w
}

// ring finds a cycle in the dependency graph, or none.
func (w waiting) ring() (found []channel) {
	state := map[channel]int{} // 1: on the current path, 2: not part of a cycle
	var visit func(c channel, way []channel) []channel
	visit = func(c channel, way []channel) []channel {
		way = append(way, c)
		state[c] = 1
		for next := range w[c] {
			switch state[next] {
			case 0:
				if r := visit(next, way); r != nil {
					return r
				}
			case 1:
				for i := range way {
					if way[i] == next {
						return way[i:]
					}
				}
			}
		}
		state[c] = 2
		return nil
	}
	for c := range w {
		if state[c] == 0 {
			if r := visit(c, nil); r != nil {
				return r
			}
		}
	}
	return nil
}

func ownClass(s nic.Source) uint8 { return uint8(s.Class()) }

// flat is a torus or Dragonfly without its second virtual channels.
type flat struct{ fabric.Topology }

func (flat) VC(_, _ int, vc uint8, _ int) uint8 { return vc % classes }

// TestNoRingOfChannels: no packet can wait for itself, through the network, units and software, so
// the network is free of deadlock.
func TestNoRingOfChannels(t *testing.T) {
	for _, dims := range [][]int{{2, 1, 1}, {4, 1, 1}, {3, 3, 1}, {5, 2, 1}, {4, 3, 2}, {3, 3, 3}} {
		for name, topology := range map[string]fabric.Topology{"mesh": fabric.Mesh(dims...), "torus": fabric.Torus(dims...)} {
			t.Run(fmt.Sprint(name, dims), func(t *testing.T) { noRing(t, topology) })
		}
	}
	require.NotEmpty(t, graph(flat{fabric.Torus(5)}, ownClass).ring(), "a torus without dateline: expected a ring")
	for _, text := range []string{"dragonfly:1", "dragonfly:2", "dragonfly:1,5,3", "fattree:2,2", "fattree:3,3"} {
		on, err := sharedOf(text, nil, 0)
		require.NoError(t, err)
		t.Run(text, func(t *testing.T) { noRing(t, on) })
		if on.VCs() > classes {
			require.NotEmpty(t, graph(flat{on}, ownClass).ring(), "%s without second VCs: expected a ring", text)
		}
	}
}

func noRing(t *testing.T, topology fabric.Topology) {
	t.Helper()
	require.Empty(t, graph(topology, ownClass).ring())
	shared := func(s nic.Source) uint8 { return min(uint8(s.Class()), 1) } // requests share a channel with answers
	require.NotEmpty(t, graph(topology, shared).ring(), "requests and answers in one class: expected a ring")
	shared = func(s nic.Source) uint8 { return uint8(max(s.Class(), 1)) } // VELO shares a channel with requests
	require.NotEmpty(t, graph(topology, shared).ring(), "VELO and requests in one class: expected a ring")
}
