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
			q, ok := p.Partner(n)
			require.True(t, ok)
			require.Equal(t, n, p.Next(q, nil))
			if q == n {
				alone++
			}
		}
		require.Equal(t, 1, alone)
	}
	require.NotEqual(t, Pairs(72, 1), Pairs(72, 2))
}

// Every pattern gives nodes that exist, and what its name says.
func TestPatterns(t *testing.T) {
	d := dragonfly(t)
	dice := rand.NewPCG(1, 1)
	for _, name := range Names() {
		p, err := New(name, d, 1, 3, 0.25)
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
	p, err := New("adversarial", grid, 1, 0, 0)
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
	_, err := New("unifrom", dragonfly(t), 1, 0, 0)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "uniform")
	_, err = New("hotspot", dragonfly(t), 1, 0, 0.5)
	require.ErrorIs(t, err, drivers.ErrConfig)
}
