package traffic

import (
	"math/rand/v2"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

func dragonfly(t *testing.T) topology.Dragonfly {
	d, err := topology.NewDragonfly(2, 4, 2, 2, 10)
	require.NoError(t, err)
	return d
}

func TestPairs(t *testing.T) {
	for seed := range uint64(5) {
		p := Pairs(73, seed)
		alone := 0
		for n := range 73 {
			require.Len(t, p.Partners(n), 1)
			q := int(p.Partners(n)[0])
			require.Equal(t, n, p.Next(q, nil))
			if q == n {
				alone++
			}
		}
		require.Equal(t, 1, alone)
	}
	require.NotEqual(t, Pairs(72, 1), Pairs(72, 2))
}

// Partners are used in equal shares, and send back.
func TestSeveral(t *testing.T) {
	const nodes, k = 72, 4
	p, err := Several(nodes, k, 3)
	require.NoError(t, err)
	_, err = Several(6, 6, 3)
	require.ErrorIs(t, err, drivers.ErrConfig)
	dice := rand.NewPCG(1, 1)
	for n := range nodes {
		list := p.Partners(n)
		require.Len(t, list, k)
		count := map[int32]int{}
		for range 4000 {
			count[int32(p.Next(n, dice))]++
		}
		for _, q := range list {
			require.Contains(t, p.Partners(int(q)), int32(n))
			require.InEpsilon(t, 1000, count[q], 0.15, "node %d to %d", n, q)
		}
	}
}

// Some nodes send only to each other, and the others have one partner each.
func TestBeside(t *testing.T) {
	for seed := range uint64(5) {
		p, apart := Beside(73, 13, seed)
		dice := rand.NewPCG(1, 1)
		met := map[int]bool{}
		for n := range 73 {
			for range 300 {
				dst := p.Next(n, dice)
				require.Equal(t, apart[n], apart[dst])
				if apart[n] {
					met[dst] = true
					require.NotEqual(t, n, dst)
				} else {
					require.Equal(t, n, int(p.Partners(dst)[0]))
				}
			}
			require.Equal(t, apart[n], p.Partners(n) == nil)
		}
		require.Len(t, met, 13)
	}
}

// Every pattern returns existing nodes with the expected distribution.
func TestPatterns(t *testing.T) {
	d := dragonfly(t)
	dice := rand.NewPCG(1, 1)
	for _, name := range Names() {
		p, err := New(name, d, 1, Options{Hot: 3, Share: 0.25, Partners: 3})
		require.NoError(t, err)
		count := make([]int, d.Nodes())
		for src := range d.Nodes() {
			for range 200 {
				dst := p.Next(src, dice)
				count[dst]++
				if name == "adversarial" {
					require.Equal(t, (src/8+1)%9, dst/8)
				}
				if name != "hotspot" {
					require.NotEqual(t, src, dst)
				}
			}
		}
		hot := 0
		for _, c := range count {
			if c > 200+100 {
				hot++
			}
		}
		require.Equal(t, map[string]int{"hotspot": 3}[name], hot, name)
	}
	grid, err := topology.NewGrid([]int{8, 2}, true, 1)
	require.NoError(t, err)
	p, err := New("adversarial", grid, 1, Options{Hot: 0, Share: 0})
	require.NoError(t, err)
	require.Equal(t, []int{3, 8 + 2}, []int{p.Next(0, dice), p.Next(15, dice)})
}

func TestBirths(t *testing.T) {
	dice := rand.NewPCG(3, 1)
	for _, rate := range []float64{0.001, 0.0625, 0.5} {
		b, sum := Bernoulli(rate), int64(0)
		for range 20000 {
			g := b.Gap(dice)
			require.Positive(t, g)
			sum += g
		}
		require.InEpsilon(t, 20000/rate, float64(sum), 0.03)
	}
	require.EqualValues(t, Never, Bernoulli(0).Gap(dice))
	require.EqualValues(t, 1, Bernoulli(1).Gap(dice))
}

func TestRefused(t *testing.T) {
	_, err := New("unifrom", dragonfly(t), 1, Options{})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "uniform")
	_, err = New("hotspot", dragonfly(t), 1, Options{Share: 0.5})
	require.ErrorIs(t, err, drivers.ErrConfig)
}
