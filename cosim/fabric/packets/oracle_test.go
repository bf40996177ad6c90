package packets

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// An arrival is a packet that a node's memory has taken, with its time.
type arrival struct {
	at, born  int64
	src, node int32
	hops      uint8
	flits     uint8
	fecn      bool
	becn      bool
}

// arrivals collects them, in an order independent of that of observation.
type arrivals []arrival

func (a *arrivals) add(pk *packet, node int32, t int64) {
	*a = append(*a, arrival{t, pk.born, pk.src, node, pk.h.Hops, pk.flits, pk.marks&fecn != 0, pk.marks&becn != 0})
}

func (a arrivals) sorted() arrivals {
	slices.SortStableFunc(a, func(x, y arrival) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.node, y.node)) })
	return a
}

// TestToTheCycle: every packet reaches memory in the same cycle as in a flit-by-flit simulation:
// for all topologies and routings, without load and overloaded, with slow memories, marks and
// windows, also with minimal patience.
func TestToTheCycle(t *testing.T) {
	cycles := int64(2500)
	if testing.Short() {
		cycles = 1200
	}
	for name, cfg := range worlds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, patience := range []int{patience, 1} {
				cfg.Seed = 1 + uint64(i)
				var want, got arrivals
				r := newReference(cfg)
				r.observe, r.patience = want.add, patience
				r.run(cycles)
				n := build(t, cfg)
				n.observe, n.patience = got.add, uint8(patience)
				n.Run(cycles)
				require.NotEmpty(t, want)
				require.Empty(t, r.unfair)
				want, got = want.sorted(), got.sorted()
				for i := range min(len(want), len(got)) {
					require.Equal(t, want[i], got[i], "seed %d, arrival %d of %d", cfg.Seed, i, len(want))
				}
				require.Len(t, got, len(want))
				require.Equal(t, r.holds, n.holds(), "times that ports were held")
				if patience == 1 && name == "dragonfly minimal full" {
					require.Positive(t, n.holds())
				}
			}
		})
	}
}

// holds counts how often an input and an output were held for a request.
func (n *Network) holds() int {
	sum := uint64(0)
	for _, p := range n.parts {
		sum += p.held
	}
	return int(sum)
}
