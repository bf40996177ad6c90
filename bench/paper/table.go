package paper

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/nicloop/nicloop/bench/figure"
)

// A Table is what an experiment measured. Cells are strings, ints or float64s.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// Add appends a row.
func (t *Table) Add(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("paper: a row of %d cells, expected %d: %v", len(cells), len(t.Columns), t.Columns))
	}
	t.Rows = append(t.Rows, cells)
}

// Column returns the index of a column.
func (t *Table) Column(name string) int {
	i := slices.Index(t.Columns, name)
	if i < 0 {
		panic(fmt.Sprintf("paper: no column %q, expected one of %v", name, t.Columns))
	}
	return i
}

// Where gives the rows whose cells equal the values: name, value, name, value, …
func (t *Table) Where(conditions ...any) *Table {
	sub := &Table{Columns: t.Columns}
	for _, row := range t.Rows {
		ok := true
		for i := 0; i < len(conditions); i += 2 {
			ok = ok && row[t.Column(conditions[i].(string))] == conditions[i+1]
		}
		if ok {
			sub.Rows = append(sub.Rows, row)
		}
	}
	return sub
}

// Keep gives the rows for which f holds.
func (t *Table) Keep(name string, f func(float64) bool) *Table {
	sub := &Table{Columns: t.Columns}
	for _, row := range t.Rows {
		if f(Number(row[t.Column(name)])) {
			sub.Rows = append(sub.Rows, row)
		}
	}
	return sub
}

// Values gives a column as numbers.
func (t *Table) Values(name string) []float64 {
	c := t.Column(name)
	list := make([]float64, len(t.Rows))
	for i, row := range t.Rows {
		list[i] = Number(row[c])
	}
	return list
}

// Only gives the single value of a column in the rows that meet the conditions.
func (t *Table) Only(name string, conditions ...any) float64 {
	v := t.Where(conditions...).Values(name)
	if len(v) != 1 {
		panic(fmt.Sprintf("paper: %d rows with %v, expected one", len(v), conditions))
	}
	return v[0]
}

// Distinct gives the different values of a column, in the order of the rows.
func Distinct[T any](t *Table, name string) []T {
	var list []T
	seen := map[any]bool{}
	for _, row := range t.Rows {
		if v := row[t.Column(name)]; !seen[v] {
			seen[v] = true
			list = append(list, v.(T))
		}
	}
	return list
}

// Points are two columns as a series.
func (t *Table) Points(x, y string) []figure.Point {
	xs, ys := t.Values(x), t.Values(y)
	list := make([]figure.Point, len(xs))
	for i := range xs {
		list[i] = figure.Point{X: xs[i], Y: ys[i]}
	}
	return list
}

// Number returns a cell with an int or a float64.
func Number(cell any) float64 {
	switch v := cell.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	panic(fmt.Sprintf("paper: cell %v is no number", cell))
}

// FormatCell is a cell as people and CSV files see it.
func FormatCell(cell any) string {
	if v, ok := cell.(float64); ok {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(cell)
}

// strings gives the whole table as text.
func (t *Table) strings() [][]string {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for _, cell := range row {
			rows[i] = append(rows[i], FormatCell(cell))
		}
	}
	return rows
}

// Mean returns the arithmetic mean; 0 of no values.
func Mean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
