package vtime

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// TestQuietUntil: nothing arrives before the time that QuietUntil returns, and that time is no
// earlier than the next event of another process or of the hardware, rounded down to a cycle.
func TestQuietUntil(t *testing.T) {
	k, procs := world(t, Config{PIOWrite: 40 * ns, Wake: 60 * ns})
	const sends = drivers.Microsecond
	require.NoError(t, k.Run(func(i int) error {
		p := procs[i]
		start := p.Now()
		if i == 0 {
			p.Spend(sends)
			p.Sync()
			return p.Device().WritePIO(line(0), make([]byte, 8))
		}
		p.Spend(100 * ns)
		require.Equal(t, p.Now(), p.QuietUntil(), "the hardware is behind")
		p.Sync()
		require.Equal(t, start+sends, p.QuietUntil(), "the other process acts next")
		r := &receiver{p: p}
		p.Spend(sends - 90*ns)
		p.Sync() // the other process has posted a line, which the hardware has not taken yet
		quiets := 0
		for range 1000 {
			quiet := p.QuietUntil()
			if quiet == drivers.Never || r.taken > 0 {
				break
			}
			if before := quiet - k.period; before > p.Now() {
				quiets++
				p.Spend(before - p.Now())
				p.Sync()
				require.False(t, r.poll(t), "an arrival before %v", quiet)
			}
			p.Spend(k.period)
			p.Sync()
			r.poll(t)
		}
		require.Equal(t, uint32(1), r.taken)
		require.Greater(t, quiets, 0)
		return nil
	}))
}
