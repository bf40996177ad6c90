package reproduce

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	_ "github.com/nicloop/nicloop/drivers/ideal"
	"github.com/stretchr/testify/require"
)

func small(t *testing.T, x *Experiment) *Report {
	t.Helper()
	rep, err := x.Run(context.Background(), Env{Device: "ideal:", Scale: Small, Seed: 1, Jobs: 2})
	require.NoError(t, err)
	return rep
}

// set changes a cell in the rows that meet the conditions.
func set(column string, value any, conditions ...any) func(*Table) {
	return func(t *Table) {
		rows := t.where(conditions...).Rows
		if len(rows) == 0 {
			panic(fmt.Sprintf("no rows with %v", conditions))
		}
		for _, row := range rows {
			row[t.column(column)] = value
		}
	}
}

// plants are wrong results, one for each claim.
var plants = map[string][]func(*Table){
	"fc-table1": {
		set("threshold", 52, "formula", "eq1", "quota", 100, "credit slots", 1),
		set("violation", "overflow", "formula", "a", "quota", 100, "explored", "2 processes"),
		set("violation", "deadlock", "formula", "b", "quota", 3, "explored", "2 processes"),
		set("verdict", "refuted", "formula", "eq1", "quota", 3, "credit slots", 2, "explored", "2 processes"),
	},
	"fc-table3": {
		set("structures (bytes)", 5000.0, "flow control", "static", "processes", 1<<10),
		set("structures (bytes)", 1e9, "flow control", "dynamic", "processes", 1<<16),
		set("total (MB)", 1100.0, "flow control", "static", "processes", 1<<18),
		set("total (MB)", 300.0, "flow control", "dynamic", "processes", 1<<18),
		set("total (MB)", 2.0, "flow control", "dynamic", "processes", 1<<10),
	},
	"fc-fig14": {
		set("explicit credits", 3, "block", 1), set("explicit credits", 4, "block", 2),
		set("explicit credits", 2, "block", 3), set("intended quota", 10, "block", 4),
		set("explicit credits", 0, "block", 4), set("piggybacks", 1, "block", 5),
		set("thresholds", "2 2 2", "block", 6), set("piggybacked credits", 0, "block", 7),
		set("explicit credits", 0, "block", 8),
	},
}

// A planted wrong result must give DIFFERS for the claim that it contradicts.
func TestPlantedResultsDiffer(t *testing.T) {
	for _, x := range All() {
		id := x.IDs[0]
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			rep := small(t, x)
			require.Len(t, plants[id], len(x.claims), "one plant for each claim")
			before, err := json.Marshal(rep.Table)
			require.NoError(t, err)
			for i, plant := range plants[id] {
				wrong := clone(rep.Table)
				plant(wrong)
				ours, holds := x.claims[i].judge(wrong)
				require.False(t, holds, "claim %q still holds: %s", x.claims[i].text, ours)
			}
			after, err := json.Marshal(rep.Table)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "judging must not change the table")
		})
	}
}

func clone(t *Table) *Table {
	c := &Table{Columns: t.Columns}
	for _, row := range t.Rows {
		c.Rows = append(c.Rows, append([]any{}, row...))
	}
	return c
}

// The protocol's own claims hold; nothing simulated is involved.
func TestPureClaimsHold(t *testing.T) {
	for _, x := range All() {
		if !x.Pure {
			continue
		}
		for _, v := range small(t, x).Claims {
			require.True(t, v.Holds, "%s: %s: %s", x.IDs[0], v.Claim, v.Ours)
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
			names, err := small(t, x).Save(dir, x.Name(Env{Scale: Small}))
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

func TestReportSaysWhatItIs(t *testing.T) {
	var b bytes.Buffer
	small(t, fcTable1).Print(&b)
	require.Contains(t, b.String(), "runs on: the protocol code itself")
	require.NotContains(t, b.String(), "SCALED DOWN")
	require.Contains(t, b.String(), "HOLDS    the thresholds of the ten pairs\n         paper: Table 1\n         ours:  30 of 30 equal\n")
}

func TestFind(t *testing.T) {
	list, err := Find([]string{"fc-fig14", "fc-table?"})
	require.NoError(t, err)
	for _, x := range list {
		require.Contains(t, []string{"fc-table1", "fc-table2", "fc-table3", "fc-fig14"}, x.IDs[0])
	}
	_, err = Find([]string{"fc-tabel1"})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, `did you mean "fc-table1"?`)
	_, err = Find([]string{"["})
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = fcTable1.Run(context.Background(), Env{Scale: "huge"})
	require.ErrorIs(t, err, drivers.ErrConfig)
}
