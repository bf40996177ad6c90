package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/rtl"
)

// TestReference: hardware that is being edited is compared with rtl: of the commit it started from,
// whatever the text of its URI.
func TestReference(t *testing.T) {
	s := store(t)
	run := func(device, commit string, modified bool, cycles uint64) (slower []Record) {
		id, err := s.Begin(Run{Verb: "regress", Device: device, Commit: commit, Modified: modified, Began: time.Now()})
		require.NoError(t, err)
		rec := green("x/one", 1, cycles)
		rec.Device = device
		slower, err = s.Add(id, []Record{rec})
		require.NoError(t, err)
		return slower
	}
	run("rtl:", "a", false, 100)
	run("rtl:", "b", false, 300)
	require.Len(t, run("rtl:?src=../x&spin=0s", "a", true, 200), 1, "slower than rtl: at its commit")
	require.Empty(t, run("rtl:?src=./x", "b", true, 200))
	g, err := s.Reference("x/one", "rtl:?src=y", 1, "a")
	require.NoError(t, err)
	require.EqualValues(t, 100, g.Cycles)
	g, err = s.Reference("x/one", "rtl:?src=y", 1, "unknown")
	require.NoError(t, err)
	require.EqualValues(t, 300, g.Cycles, "no run of its commit: the last of its kind")
	g, err = s.Reference("x/one", "rtl:?bus=pcie", 1, "a")
	require.NoError(t, err)
	require.Zero(t, g)
}
