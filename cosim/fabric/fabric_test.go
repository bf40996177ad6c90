package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// whole returns a network with one part.
func whole(cfg Config) (*Part, error) {
	f, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return f.Part(0), nil
}

// sendOne injects one packet of n flits at node src as fast as credits allow and steps until its
// tail is out.
func sendOne(t *testing.T, f *Part, src, dst, n int) (injected, head, tail uint64) {
	t.Helper()
	injected = f.Now()
	sent := 0
	for range 10_000 {
		for _, e := range f.Ejected() {
			require.Equal(t, int32(dst), e.Node)
			f.Release(dst, e.VC)
			if e.Flit.Head() {
				head = f.Now()
			}
			if e.Flit.Tail() {
				return injected, head, f.Now()
			}
		}
		if sent < n && f.CanInject(src, 0) {
			f.Inject(src, 0, packetFlit(7, dst, sent, n))
			sent++
		}
		f.Step()
	}
	t.Fatal("the packet never came out")
	return
}

func packetFlit(packet uint32, dst, i, n int) Flit {
	var marks Flit
	if i == 0 {
		marks |= Head
	}
	if i == n-1 {
		marks |= Tail
	}
	return NewFlit(packet, dst, marks)
}

func TestZeroLoadLatency(t *testing.T) {
	for _, topo := range []Grid{Mesh(4, 4, 4).(Grid), Torus(5, 3).(Grid), Mesh(2).(Grid)} {
		f, err := whole(Config{Topology: topo})
		require.NoError(t, err)
		for src := range topo.Nodes() {
			for dst := range topo.Nodes() {
				for range 20 { // until the credits of the previous packet have returned
					f.Step()
				}
				at, head, tail := sendOne(t, f, src, dst, 9)
				hops := 0
				for r := src; r != dst; hops++ {
					r, _, _ = topo.Link(r, topo.Port(r, dst))
				}
				require.Equal(t, at+uint64(DefaultInjectCycles+DefaultRouterCycles*(hops+1)+DefaultLinkCycles*hops), head, "%d to %d", src, dst)
				require.Equal(t, head+8, tail)
			}
		}
	}
}

func TestConfigRefused(t *testing.T) {
	for _, cfg := range []Config{
		{}, {Topology: Mesh(0)}, {Topology: Mesh(2), VCDepth: -1}, {Topology: Mesh(2), RouterCycles: 1}, {Topology: Mesh(300, 300)},
		{Topology: Grid{Dims: [3]int{3, 1, 1}, Wrap: true, Classes: 5}}, {Topology: oneWay{Mesh(3).(Grid)}},
	} {
		_, err := New(cfg)
		require.ErrorIs(t, err, ErrConfig)
	}
}

// oneWay is a row whose middle router reports a wrong port at the other end.
type oneWay struct{ Grid }

func (o oneWay) Link(router, port int) (int, int, bool) {
	peer, back, ok := o.Grid.Link(router, port)
	if router == 1 && port == 1 {
		back = 1
	}
	return peer, back, ok
}

func TestInjectWithoutCreditPanics(t *testing.T) {
	f, err := whole(Config{Topology: Mesh(2), VCDepth: 1})
	require.NoError(t, err)
	f.Inject(0, 0, NewFlit(0, 1, Head))
	require.False(t, f.CanInject(0, 0))
	require.True(t, f.CanInject(0, 1))
	require.Panics(t, func() { f.Inject(0, 0, NewFlit(0, 1, Tail)) })
}

// TestSkipping: the same traffic, stepped and skipped, gives the same cycles.
func TestSkipping(t *testing.T) {
	run := func(skip bool) (seen []uint64) {
		f, err := whole(Config{Topology: Torus(4, 4), VCDepth: 2})
		require.NoError(t, err)
		for burst := range 20 {
			start := uint64(100 * burst)
			for f.Now() < start+99 {
				for _, e := range f.Ejected() {
					seen = append(seen, f.Now(), uint64(e.Flit))
					f.Release(int(e.Node), e.VC)
				}
				if i := int(f.Now() - start); i < 2 {
					f.Inject(burst%16, 0, packetFlit(uint32(burst), burst*7%16, i, 2))
				}
				if skip && f.Now() > start+1 {
					f.SkipTo(start + 99)
				} else {
					f.Step()
				}
			}
			require.Zero(t, f.Inside())
			f.Step()
		}
		return seen
	}
	stepped := run(false)
	require.Len(t, stepped, 20*4)
	require.Equal(t, stepped, run(true))
}

// fillRing makes every node of a ring send continuously to the node half way round, and reports how
// many flits arrive, and whether the ring deadlocks.
func fillRing(t *testing.T, topo Topology, depth int) (arrived int, stuck bool) {
	f, err := whole(Config{Topology: topo, VCDepth: depth})
	require.NoError(t, err)
	nodes := topo.Nodes()
	sent := make([]int, nodes)
	for range 5000 {
		for _, e := range f.Ejected() {
			arrived++
			f.Release(int(e.Node), e.VC)
		}
		for node := range nodes {
			if f.CanInject(node, 0) {
				// Half of the packets take each way round.
				dst := (node + (nodes-1)/2 + sent[node]/9%2*(1+(nodes+1)%2)) % nodes
				f.Inject(node, 0, packetFlit(0, dst, sent[node]%9, 9))
				sent[node]++
			}
		}
		f.Step()
	}
	return arrived, f.NextEvent() == Forever
}

// noDateline is a ring on which packets keep their VC. It must deadlock, otherwise the test of
// rings would be meaningless.
type noDateline struct{ Grid }

func (noDateline) VC(_, _ int, vc uint8, _ int) uint8 { return vc }

func TestRingsDoNotDeadlock(t *testing.T) {
	for _, nodes := range []int{3, 4, 5, 8} {
		for _, depth := range []int{1, 2, 9} {
			arrived, stuck := fillRing(t, Torus(nodes), depth)
			require.False(t, stuck, "%d nodes, depth %d", nodes, depth)
			require.Greater(t, arrived, 100*nodes, "%d nodes, depth %d", nodes, depth)
		}
	}
	_, stuck := fillRing(t, noDateline{Torus(5).(Grid)}, 2)
	require.True(t, stuck, "a ring without dateline fills up and stops")
}

func TestNoAllocations(t *testing.T) {
	s := newSaturate(t, Config{Topology: Torus(3, 3), VCDepth: 4}, 9)
	s.f.SetRoute(0, 5, NoPort)
	require.Zero(t, testing.AllocsPerRun(2000, s.cycle))
	require.NotZero(t, s.f.RouteErrors(0))
}
