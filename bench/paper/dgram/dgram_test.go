package dgram

import (
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
)

// good returns a table as the paper has it.
func good(unit string, rc, ud func(size int) float64) func(*paper.Env) *paper.Table {
	return func(e *paper.Env) *paper.Table {
		t := &paper.Table{Columns: []string{"bytes", column("rc", unit), column("ud", unit), column("rd", unit)}}
		for _, size := range sizes(e) {
			t.Add(size, rc(size), ud(size), ud(size))
		}
		return t
	}
}

var cases = map[string]papertest.Case{
	"dgram-fig6.3": {
		Good: good("us", func(size int) float64 { return 20 + float64(size)/1000 }, func(size int) float64 {
			if size == splitAt {
				return 120
			}
			return 15 + float64(size)/1100
		}),
		Plants: []func(*paper.Table){
			papertest.Set("ud (us)", 40.0, "bytes", 1),
			papertest.Scale("ud (us)", 1.2, 0),
			papertest.Set("ud (us)", 80.0, "bytes", splitAt),
		},
	},
	"dgram-fig6.5": {
		Good: good(mbPerS, func(size int) float64 { return float64(size) / 100 }, func(size int) float64 { return float64(size) / 70 }),
		Plants: []func(*paper.Table){
			papertest.Scale(column("ud", mbPerS), 0.7, 0),
			papertest.Scale(column("ud", mbPerS), 0.85, 0, "bytes", 2*kilobyte),
		},
	},
}

// TestPlantedResultsDiffer: every claim holds on a table as the paper has it, and differs as soon
// as the result that contradicts it is planted.
func TestPlantedResultsDiffer(t *testing.T) { papertest.PlantAll(t, Experiments(), cases) }

// TestMutations: claims about a subject differ when it is disabled.
func TestMutations(t *testing.T) { papertest.KillAll(t, Experiments()) }
