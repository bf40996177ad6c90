package sweep

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/userfile"
)

// A Change is a value that differs from an older sweep.
type Change struct {
	Where  string `json:"where"` // point on the axes, with the seed
	Column string `json:"column"`
	Before string `json:"before"` // "": the row or the value does not exist
	After  string `json:"after"`
}

// Share is the relative change in percent; ok is false if it is undefined.
func (c *Change) Share() (percent float64, ok bool) {
	a, err1 := strconv.ParseFloat(c.Before, 64)
	b, err2 := strconv.ParseFloat(c.After, 64)
	if err1 != nil || err2 != nil || a == 0 {
		return 0, false
	}
	return 100 * (b/a - 1), true
}

// Changes compares the table with the rows of an older sweep in a CSV file. Rows correspond if they
// have the same point on the axes and the same seed; several such rows correspond in order. Axes
// that exist in only one of them are an error.
func (t *Table) Changes(file string) (list []Change, err error) {
	old, err := readTable(file, t)
	if err != nil {
		return nil, err
	}
	was := map[string][]string{}
	var order []string
	for _, row := range old.rows {
		key := keyOfRow(row, old.keys, was)
		was[key] = row
		order = append(order, key)
	}
	seen := map[string][]string{}
	for _, row := range t.Strings() {
		key := keyOfRow(row, t.keyColumns(), seen)
		seen[key] = row
		list = append(list, t.compare(key, old, was[key], row)...)
	}
	for _, key := range order {
		if seen[key] == nil {
			list = append(list, Change{Where: key, Column: "status", Before: old.get(was[key], "status")})
		}
	}
	return list, nil
}

func (t *Table) keyColumns() (list []int) {
	for i := range t.Keys {
		list = append(list, i)
	}
	return list
}

// oldTable is the contents of a file.
type oldTable struct {
	columns []string
	keys    []int // indices of the columns that are t's keys, in their order
	rows    [][]string
}

func (o *oldTable) get(row []string, column string) string {
	if i := slices.Index(o.columns, column); i >= 0 && row != nil {
		return row[i]
	}
	return ""
}

func readTable(file string, t *Table) (*oldTable, error) {
	text, err := userfile.Read(file, userfile.LogLimit)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: expected rows.csv of a sweep: %w", drivers.ErrConfig, file, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: %s is empty: expected rows.csv of a sweep", drivers.ErrConfig, file)
	}
	o := &oldTable{columns: rows[0], rows: rows[1:]}
	for _, name := range t.Columns[:t.Keys] {
		i := slices.Index(o.columns, name)
		if i < 0 {
			return nil, fmt.Errorf("%w: %s has no column %s: it is of another sweep", drivers.ErrConfig, file, name)
		}
		o.keys = append(o.keys, i)
	}
	return o, nil
}

// keyOfRow names a row by its point on the axes; rows with the same point are numbered.
func keyOfRow(row []string, keys []int, taken map[string][]string) string {
	var parts []string
	for _, i := range keys {
		parts = append(parts, row[i])
	}
	key := strings.Join(parts, ",")
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s row %d", key, n)
		if taken[name] == nil {
			return name
		}
	}
}

// told lists the fixed columns whose changes are reported.
var told = []string{"status", "device", "hardware_hash", "exactness"}

func (t *Table) compare(key string, old *oldTable, before, after []string) (list []Change) {
	if before == nil {
		return []Change{{Where: key, Column: "status", After: after[slices.Index(t.Columns, "status")]}}
	}
	for i := t.Keys; i < len(t.Columns); i++ {
		name := t.Columns[i]
		if slices.Contains(fixedColumns, name) && !slices.Contains(told, name) || !slices.Contains(old.columns, name) {
			continue
		}
		if was := old.get(before, name); was != after[i] {
			list = append(list, Change{key, name, was, after[i]})
		}
	}
	return list
}
