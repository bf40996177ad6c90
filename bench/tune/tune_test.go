package tune

import (
	"bytes"
	"context"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// TestChoicesAreNoSlowerThanLinear: the choices of the table are at most 2 % slower than the linear
// algorithm, also for numbers of ranks that were not measured.
func TestChoicesAreNoSlowerThanLinear(t *testing.T) {
	o := Default()
	o.Ranks, o.Sizes = []int{2, 3, 4, 6, 10, 16}, []int{8, 40, 256, 1024, 2048, 8192}
	if testing.Short() {
		o.Ranks, o.Sizes = []int{3, 8}, []int{8, 1024, 16384}
	}
	rep, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, rep.Slower(1.02), "measured from a command line: nicloop bench collectives --ranks 2,3,4,6,10,16 --sizes 8,40,256,1024,2048,8192")
}

func point(k host.Collective, ranks, bytes int, name string, micros float64) Point {
	return Point{Collective: k.String(), Ranks: ranks, Bytes: bytes, Algorithm: name, Micros: micros, kind: k}
}

// TestRowsOfTheTable: classes of ranks and sizes with the same choice are merged. An algorithm for
// powers of two is followed by a second choice, unless its class has no other numbers of ranks.
func TestRowsOfTheTable(t *testing.T) {
	rep := &Report{}
	for _, ranks := range []int{2, 4, 8, 16} {
		for _, n := range []int{8, 64, 1024} {
			line, ring, doubling := 1.0, 1.5, 2.0
			if ranks > 2 && n < 1024 {
				doubling = 0.5
			}
			if ranks == 16 && n == 1024 {
				ring = 0.995 // not safe
			}
			if ranks == 16 && n < 1024 {
				ring = 0.7
			}
			rep.Points = append(rep.Points, point(host.Allgather, ranks, n, host.Linear, line),
				point(host.Allgather, ranks, n, "ring", ring), point(host.Allgather, ranks, n, "recursive-doubling", doubling))
		}
	}
	var b bytes.Buffer
	rep.WriteTable(&b)
	require.Equal(t, `	Allgather: {
		{3, 0, "linear"},
		{15, 64, "recursive-doubling"},
		{15, 64, "linear"},
		{15, 0, "linear"},
		{0, 64, "recursive-doubling"},
		{0, 64, "ring"},
		{0, 0, "linear"},
	},
`, b.String())
}

func TestSlowerChoicesAreFound(t *testing.T) {
	choice := host.Bcast.Choice(16, 65536)
	require.NotEqual(t, host.Linear, choice)
	rep := &Report{Points: []Point{point(host.Bcast, 16, 65536, host.Linear, 10), point(host.Bcast, 16, 65536, choice, 10.3)}}
	require.Empty(t, rep.Slower(1.05))
	require.Equal(t, []Slower{{"bcast", 16, 65536, choice, 1.03}}, rep.Slower(1.02))
}
