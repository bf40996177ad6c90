package mailbox

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// FC paper, Equation 7: at most 4n+2 bytes of static and 150n of dynamic state for n processes.
func TestStateSize(t *testing.T) {
	for _, procs := range []int{2, 16, 1024, 1 << 16} {
		for slots := 1; slots <= 5; slots++ {
			c := Config{Procs: procs, DataSlots: (procs - 1) * 60, CreditSlots: slots}
			static, err := NewStatic(c)
			require.NoError(t, err)
			dynamic, err := NewDynamic(c)
			require.NoError(t, err)
			require.LessOrEqual(t, StateBytes(static), 4*procs+2)
			require.LessOrEqual(t, StateBytes(dynamic), 150*procs)
			t.Logf("%d processes, %d credit slots: static %d bytes, dynamic %d (%.1f per process)",
				procs, slots, StateBytes(static), StateBytes(dynamic), float64(StateBytes(dynamic))/float64(procs))
		}
	}
}

// TestStateBytesAreAllocated: what StateBytes counts is what construction allocates, but for the
// fixed part.
func TestStateBytesAreAllocated(t *testing.T) {
	const procs, fixed = 4096, 2048
	c := Config{Procs: procs, DataSlots: (procs - 1) * 60, CreditSlots: 2}
	for name, start := range map[string]func(Config) (Flow, error){"static": NewStatic, "dynamic": NewDynamic} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := start(c)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		// The allocator rounds large blocks up to pages.
		require.InDelta(t, StateBytes(f), allocated, fixed+4*8192, name)
		require.GreaterOrEqual(t, allocated, StateBytes(f), name)
	}
}
