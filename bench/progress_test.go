package bench

import (
	"context"
	"math/rand"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// A stubProc is a vtime.Proc that says what it likes of its room for lines.
type stubProc struct {
	*vtime.Proc
	room func(p *vtime.Proc, lines int) bool
	no   *int
}

func (m stubProc) Room(lines int) bool {
	ok := m.room(m.Proc, lines)
	if !ok {
		*m.no++
	}
	return ok
}

// allToAll runs two alltoalls of six ranks on two nodes, and gives the times at which each
// rank was where, and how often there was no room.
func allToAll(t *testing.T, depth int, room func(p *vtime.Proc, lines int) bool) (times [][]drivers.Time, no int) {
	const ranks, slots, bytes = 6, 8, 700
	const box = ranks * slots * regs.SlotBytes
	sys, err := registry.Open(context.Background(), "ideal:?latency=20", drivers.Options{Nodes: 2, MemoryBytes: ranks / 2 * box})
	require.NoError(t, err)
	defer sys.Close()
	cost := host.DefaultCost()
	k := vtime.New(sys.(drivers.Timed), vtime.Config{PIOWrite: cost.PIOWrite, RegWrite: cost.RegWrite, Wake: cost.Wake, PIODepth: depth})
	var addrs []velo.Addr
	for i := range ranks {
		addrs = append(addrs, velo.Addr{Node: i % 2, VPID: i / 2})
	}
	dir := velo.NewDirectory(addrs)
	var world []*host.Rank
	for i, a := range addrs {
		p := k.Add(a.Node, a.VPID)
		ep, err := velo.Open(p.Device(), uint64(a.VPID*box), i, dir, velo.Config{Flow: velo.Dynamic, Slots: slots, CreditSlots: 2, Piggyback: true})
		require.NoError(t, err)
		require.NoError(t, p.WatchArrivals(uint64(a.VPID*box), box))
		world = append(world, host.NewRank(i, ranks, stubProc{p, room, &no}, ep, &cost))
	}
	times = make([][]drivers.Time, ranks)
	require.NoError(t, k.Run(func(i int) error {
		r := world[i]
		r.SetLinear(true)
		for range 2 {
			out, in := make([]byte, ranks*bytes), make([]byte, ranks*bytes)
			for p := range ranks {
				out[p*bytes] = byte(i*ranks + p)
			}
			if err := r.Alltoall(out, in, bytes); err != nil {
				return err
			}
			for p := range ranks {
				require.Equal(t, byte(p*ranks+i), in[p*bytes])
			}
			times[i] = append(times[i], r.Now())
		}
		return r.Barrier()
	}))
	return times, no
}

// TestRoomDecidesNothing: a rank that may not wait where it is gives up and goes on elsewhere,
// whenever that is: it does the same at the same times.
func TestRoomDecidesNothing(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, depth := range []int{6, 16} {
		want, some := allToAll(t, depth, (*vtime.Proc).Room)
		require.Positive(t, some, "depth %d", depth)
		for name, room := range map[string]func(p *vtime.Proc, lines int) bool{
			"never":   func(*vtime.Proc, int) bool { return false },
			"at most": func(p *vtime.Proc, lines int) bool { return rnd.Intn(2) == 0 && p.Room(lines) },
		} {
			got, no := allToAll(t, depth, room)
			require.Equal(t, want, got, "depth %d: %s", depth, name)
			require.Positive(t, no, "depth %d: %s", depth, name)
		}
	}
}
