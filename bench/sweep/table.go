package sweep

import (
	"encoding/json"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/batch"
)

// A Table holds the measurements of a sweep: rows in the order of the file.
type Table struct {
	Columns []string
	Keys    int // number of leading columns that identify a row
	rows    [][]cell
}

// Status of a run, as in the store of runs.
const (
	Passed = "PASS"
	Failed = "FAIL"
	Hung   = "HANG"
)

// StatusOf returns the status of a run: exit code 4 of nicloop is a hang.
func StatusOf(r *batch.Record) string {
	switch {
	case r.Exit == 0 && r.Result != nil:
		return Passed
	case r.Exit == 4:
		return Hung
	}
	return Failed
}

// header returns the columns of a file.
func (f *File) header() (names []string, keys int) {
	for _, n := range f.axisNames() {
		names = append(names, column(n))
	}
	if f.Seeds > 0 {
		names = append(names, "seed")
	}
	keys = len(names)
	for _, v := range f.Values {
		names = append(names, v.name)
	}
	for _, d := range f.Derived {
		names = append(names, d.name)
	}
	return append(names, f.fixed()...), keys
}

// fixed returns the columns at the end of every row. The device appears only once: as an axis, if
// it is one.
func (f *File) fixed() []string {
	if !slices.Contains(f.axisNames(), "device") {
		return fixedColumns
	}
	return slices.DeleteFunc(slices.Clone(fixedColumns), func(name string) bool { return name == "device" })
}

// NewTable builds a table of records; missing records are nil.
func (f *File) NewTable(points []Point, records []*batch.Record) (*Table, error) {
	t := &Table{}
	t.Columns, t.Keys = f.header()
	for i, r := range records {
		if r == nil {
			continue
		}
		rows, err := f.Rows(&points[i], r)
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, rows...)
	}
	return t, nil
}

// Rows returns the rows of one run.
func (f *File) Rows(pt *Point, r *batch.Record) ([][]cell, error) {
	status := StatusOf(r)
	values := [][]cell{make([]cell, len(f.Values))}
	if status == Passed {
		var err error
		if values, err = f.extract(r.Result); err != nil {
			return nil, err
		}
	}
	device, hash := pt.Device, "none"
	if device == "" {
		device = "none"
	} else {
		hash = Hardware(r.Result)
	}
	reason, _, _ := strings.Cut(r.Error, "\n")
	tail := []cell{text(status)}
	if len(f.fixed()) == len(fixedColumns) {
		tail = append(tail, text(device))
	}
	tail = append(tail, text(hash), text(Exactness(pt.Device)), text(r.Machine), text(strings.TrimPrefix(reason, "nicloop: ")))
	var rows [][]cell
	for _, v := range values {
		row := append([]cell{}, pt.cells...)
		if f.Seeds > 0 {
			row = append(row, cell{fmt.Sprint(pt.Seed), types.UntypedInt})
		}
		row = append(row, v...)
		more, err := f.derive(row)
		if err != nil {
			return nil, err
		}
		rows = append(rows, append(append(row, more...), tail...))
	}
	return rows, nil
}

// derive evaluates the derived columns of a row; a column that depends on an empty one is empty.
func (f *File) derive(row []cell) (more []cell, err error) {
	columns, _ := f.header()
	s := scope{}
	for i, c := range row {
		if c != (cell{}) {
			s[columns[i]] = c
		}
	}
	for i := range f.Derived {
		d := &f.Derived[i]
		c, err := d.number(s, columns)
		switch {
		case err != nil && (isAbsent(err) || strings.Contains(err.Error(), "division by zero")):
			c = cell{}
		case err != nil:
			return nil, err
		}
		if c != (cell{}) {
			s[d.name] = c
		}
		more = append(more, c)
	}
	return more, nil
}

// Strings returns the rows as text.
func (t *Table) Strings() [][]string {
	list := make([][]string, len(t.rows))
	for i, row := range t.rows {
		for _, c := range row {
			list[i] = append(list[i], c.text)
		}
	}
	return list
}

// Figures returns the numbers of one run by column name.
func (f *File) Figures(rows [][]cell) (list []Figure) {
	columns, keys := f.header()
	for k, row := range rows {
		for i := keys; i < len(columns)-len(f.fixed()); i++ {
			v, ok := row[i].number()
			if !ok {
				continue
			}
			name := columns[i]
			if len(rows) > 1 {
				name = fmt.Sprintf("%s[%d]", name, k)
			}
			list = append(list, Figure{name, v})
		}
	}
	return list
}

// A Figure is a number measured by a run.
type Figure struct {
	Name  string
	Value float64
}

// Hardware returns the hardware hash of any document that contains one.
func Hardware(text json.RawMessage) string {
	var doc struct {
		Device json.RawMessage `json:"device"`
		Hash   string          `json:"rtl_hash"`
		Tests  []struct {
			Hash string `json:"hardware_hash"`
		} `json:"tests"`
	}
	var device struct {
		Hash string `json:"hash"`
	}
	if json.Unmarshal(text, &doc) != nil {
		return "unknown"
	}
	if json.Unmarshal(doc.Device, &device) == nil && device.Hash != "" {
		return device.Hash
	}
	switch {
	case doc.Hash != "":
		return doc.Hash
	case len(doc.Tests) > 0 && doc.Tests[0].Hash != "":
		return doc.Tests[0].Hash
	}
	return "unknown"
}

// Cycles returns the cycles of a run according to its document, or 0.
func Cycles(text json.RawMessage) uint64 {
	var doc struct {
		Cycles uint64 `json:"cycles"`
	}
	if json.Unmarshal(text, &doc) != nil {
		return 0
	}
	return doc.Cycles
}

// Exactness classifies the accuracy of measurements on a device.
func Exactness(device string) string {
	scheme, query, _ := strings.Cut(device, ":")
	switch {
	case device == "":
		return "no device"
	case scheme == "rtl":
		return "cycles of the RTL"
	case strings.Contains(query, "params="):
		return "cycles of given parameters, by the model"
	case scheme == "model":
		return "cycles of the RTL, by the model"
	case scheme == "mixed":
		return "cycles of the RTL, most nodes by the model"
	case scheme == "ideal":
		return "functional, cycles of no hardware"
	case scheme == "replay":
		return "as recorded"
	}
	return "not known"
}
