package reuse

import (
	"fmt"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// What several figures claim about messages of 8 KB, in the row with a value in a column.

func gainOf8K(t *paper.Table, column, value string) float64 {
	return t.Only("gain (%)", column, value, "bytes", 8<<10)
}

// gainAndTheory returns the measured gain and that of equation 5.6.
func gainAndTheory(t *paper.Table, column, value string) (measured, expected float64, ours string) {
	measured, expected = gainOf8K(t, column, value), t.Only("theory (%)", column, value, "bytes", 8<<10)
	return measured, expected, fmt.Sprintf("%.1f of %.1f %%", measured, expected)
}

// gains requires a clear gain.
func gains(column, value string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := gainOf8K(t, column, value)
		return judge.Of(fmt.Sprintf("%.1f %%", v), judge.AtLeast(v, 100*judge.Margin))
	}
}

// gainsAs requires the gain of the paper, within a quarter.
func gainsAs(column, value string, published float64) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v := gainOf8K(t, column, value)
		return judge.Of(fmt.Sprintf("%.1f %%", v), judge.Near(v, published, published/4))
	}
}

// gainsLess requires a clear gain that is clearly lower than that of equation 5.6.
func gainsLess(column, value string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v, w, ours := gainAndTheory(t, column, value)
		return judge.Of(ours, judge.AtLeast(v, 100*judge.Margin), judge.Less(v, w, judge.Points))
	}
}

// theoryTolerance is the distance, in percentage points, at which a gain is still that of equation
// 5.6.
const theoryTolerance = 1.5

// asTheory requires the gain of equation 5.6.
func asTheory(column, value string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v, w, ours := gainAndTheory(t, column, value)
		return judge.Of(ours, judge.Near(v-w, 0, theoryTolerance))
	}
}

// belowTheory requires a gain below that of equation 5.6.
func belowTheory(column, value string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		v, w, ours := gainAndTheory(t, column, value)
		return judge.Of(ours, judge.Below(v-w, -theoryTolerance))
	}
}
