package fabric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// sendOne injects one packet of n flits at node src as fast as credits allow and
// steps until its tail is out; it returns the cycles of first and last flit.
func sendOne(t *testing.T, f *Fabric, src, dst, n int) (injected, head, tail uint64) {
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
		for src := range topo.Nodes() {
			for dst := range topo.Nodes() {
				f, err := New(Config{Topology: topo})
				require.NoError(t, err)
				at, head, tail := sendOne(t, f, src, dst, 9)
				hops := 0
				for r := src; r != dst; hops++ {
					r, _, _ = topo.Link(r, topo.Port(r, dst))
				}
				require.Equal(t, at+uint64(2*(hops+1)+2*hops), head, "%d to %d", src, dst)
				require.Equal(t, head+8, tail)
			}
		}
	}
}
