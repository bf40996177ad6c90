package reproduce

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// refuted are the claims of papers about pure protocols that do not hold.
var refuted = []string{
	"theorem 2: none do if a list is searched in order, as Portals does (corrected table)",
}

// The protocol's own claims hold, but for those that are known to be wrong; nothing simulated is
// involved.
func TestPureClaimsHold(t *testing.T) {
	for _, x := range All() {
		if !x.Pure {
			continue
		}
		for _, v := range papertest.Small(t, x).Claims {
			require.Equal(t, !slices.Contains(refuted, v.Claim), v.Holds(), "%s: %s: %s", x.IDs[0], v.Claim, v.Ours)
		}
	}
}

func TestFilesAreTheSameEachTime(t *testing.T) {
	var first map[string][]byte
	for range 2 {
		dir, files := t.TempDir(), map[string][]byte{}
		for _, x := range All() {
			if !x.Pure {
				continue
			}
			names, err := papertest.Small(t, x).Save(dir, x.Name(paper.Env{Scale: paper.Small}))
			require.NoError(t, err)
			for _, n := range names {
				b, err := os.ReadFile(n)
				require.NoError(t, err)
				require.NotEmpty(t, b)
				files[filepath.Base(n)] = b
			}
		}
		require.NotEmpty(t, files)
		if first != nil {
			require.Equal(t, first, files)
		}
		first = files
	}
}

func TestFind(t *testing.T) {
	list, err := Find([]string{"fc-fig14", "fc-table?"})
	require.NoError(t, err)
	for _, x := range list {
		require.Contains(t, []string{"fc-table1", "fc-table2", "fc-table3", "fc-fig14"}, x.IDs[0])
	}
	_, err = list[0].Run(context.Background(), paper.Env{Scale: "huge"})
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = Find([]string{"fc-tabel1"})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, `did you mean "fc-table1"?`)
	_, err = Find([]string{"["})
	require.ErrorIs(t, err, drivers.ErrConfig)
}

// Every reason is about a claim that there is.
func TestReasonsHaveClaims(t *testing.T) {
	for _, x := range All() {
		for _, r := range x.Reasons {
			if r.Asks == nil {
				require.True(t, slices.ContainsFunc(x.Claims, func(c paper.Claim) bool { return c.Text == r.Claim }), "%s: %s", x.IDs[0], r.Changed)
			}
			require.NotEmpty(t, r.Changed)
		}
	}
}
