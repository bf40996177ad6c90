package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
)

// A value is a column that extracts a path such as rows[].flow_control.credit_packets from a
// document. Each list with [] yields one row per element; sum, min, max or mean of a path combines
// all elements to one number.
type value struct {
	name  string
	where position
	fold  string // "" or sum, min, max, mean
	path  path
}

// A path is a list of keys; a key that ends in [] is a list, of which every element counts.
type path []string

var foldShape = regexp.MustCompile(`^(sum|min|max|mean)\((.+)\)$`)

func (r *reader) values(e entry) (list []value, err error) {
	entries, err := r.mapping(e.value, e.key, nil)
	errs := []error{err}
	for _, x := range entries {
		text, err := r.text(x.value, x.key)
		errs = append(errs, err)
		v := value{name: x.key, where: x.where}
		if m := foldShape.FindStringSubmatch(text); m != nil {
			v.fold, text = m[1], m[2]
		}
		v.path = strings.Split(text, ".")
		list = append(list, v)
	}
	return list, errors.Join(errs...)
}

// lists returns the paths of the lists within it, outermost first.
func (p path) lists() (all []string) {
	for i, key := range p {
		if strings.HasSuffix(key, "[]") {
			all = append(all, strings.Join(p[:i+1], "."))
		}
	}
	return all
}

func (f *File) checkValues() error {
	var deepest []string
	var errs []error
	names := []string{"seed"}
	for _, n := range f.axisNames() {
		names = append(names, column(n))
	}
	for i := range f.Values {
		v := &f.Values[i]
		errs = append(errs, v.check(f.verb.Forms, names))
		names = append(names, v.name)
		if v.fold != "" {
			continue
		}
		lists := v.path.lists()
		for k := range min(len(lists), len(deepest)) {
			if lists[k] != deepest[k] {
				errs = append(errs, v.where.errorf("%s goes through %s, others through %s: one row cannot have both", v.name, lists[k], deepest[k]))
			}
		}
		if len(lists) > len(deepest) {
			deepest = lists
		}
	}
	return errors.Join(append(errs, f.checkDerived(names))...)
}

func (f *File) checkDerived(names []string) error {
	var errs []error
	s := scope{} // any numbers suffice to check that the columns exist
	for _, n := range names {
		s[n] = cell{"1", types.UntypedInt}
	}
	for i := range f.Derived {
		d := &f.Derived[i]
		errs = append(errs, checkColumn(d.name, d.where, names))
		if _, err := d.eval(s, names); err != nil && isAbsent(err) {
			errs = append(errs, err)
		}
		names = append(names, d.name)
		s[d.name] = cell{"1", types.UntypedInt}
	}
	return errors.Join(errs...)
}

// fixedColumns are part of every row.
var fixedColumns = []string{"status", "device", "hardware_hash", "exactness", "machine", "error"}

func checkColumn(name string, where position, taken []string) error {
	if !token.IsIdentifier(name) || strings.ToLower(name) != name {
		return where.errorf("column %q: expected small letters, digits and _", name)
	}
	if slices.Contains(taken, name) || slices.Contains(fixedColumns, name) {
		return where.errorf("there is a column %q already", name)
	}
	return nil
}

// check follows the path through the types of the verb's output.
func (v *value) check(forms []reflect.Type, taken []string) error {
	if err := checkColumn(v.name, v.where, taken); err != nil {
		return err
	}
	var why error
	for _, form := range forms {
		if err := v.follow(form); err == nil {
			return nil
		} else if why == nil {
			why = err
		}
	}
	return why
}

func (v *value) follow(t reflect.Type) error {
	for i, part := range v.path {
		key, isList := strings.CutSuffix(part, "[]")
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Map {
			t = t.Elem()
			continue
		}
		keys := map[string]reflect.Type{}
		keysOf(t, keys)
		next, ok := keys[key]
		if !ok {
			var known []string
			for k := range keys {
				known = append(known, k)
			}
			slices.Sort(known)
			return v.where.errorf("%s: there is no key %q%s; known: %s", strings.Join(v.path, "."), key, suggest.Nearest(key, known), strings.Join(known, ", "))
		}
		for next.Kind() == reflect.Pointer {
			next = next.Elem()
		}
		switch list := next.Kind() == reflect.Slice || next.Kind() == reflect.Array; {
		case list && !isList:
			return v.where.errorf("%s: %s is a list: write %s[]", strings.Join(v.path, "."), key, key)
		case !list && isList:
			return v.where.errorf("%s: %s is no list", strings.Join(v.path, "."), key)
		case list:
			next = next.Elem()
		}
		for next.Kind() == reflect.Pointer {
			next = next.Elem()
		}
		if k := next.Kind(); i == len(v.path)-1 && (k == reflect.Struct || k == reflect.Slice || k == reflect.Map) {
			return v.where.errorf("%s is no single value", strings.Join(v.path, "."))
		}
		t = next
	}
	return nil
}

// keysOf collects the JSON keys of a type.
func keysOf(t reflect.Type, to map[string]reflect.Type) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			keysOf(f.Type, to)
		case key != "" && key != "-":
			to[key] = f.Type
		}
	}
}

// extract returns the values of all rows of a document, each in the order of f.Values.
func (f *File) extract(text json.RawMessage) ([][]cell, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("expected JSON of %s: %w", f.verb.Name, err)
	}
	var deepest []string
	for i := range f.Values {
		if v := &f.Values[i]; v.fold == "" && len(v.path.lists()) > len(deepest) {
			deepest = v.path.lists()
		}
	}
	var rows [][]cell
	at := map[string]int{}
	var walk func(level int)
	walk = func(level int) {
		if level == len(deepest) {
			row := make([]cell, len(f.Values))
			for i := range f.Values {
				row[i] = f.Values[i].of(doc, at)
			}
			rows = append(rows, row)
			return
		}
		list, _ := descend(doc, strings.Split(deepest[level], "."), at, true).([]any)
		for k := range list {
			at[deepest[level]] = k
			walk(level + 1)
		}
		delete(at, deepest[level])
	}
	walk(0)
	return rows, nil
}

// descend follows a path; at selects an element of each list. If whole is set, the last list itself
// is returned.
func descend(v any, p path, at map[string]int, whole bool) any {
	for i, part := range p {
		key, isList := strings.CutSuffix(part, "[]")
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[key]
		if !isList || whole && i == len(p)-1 {
			continue
		}
		list, ok := v.([]any)
		k, known := at[strings.Join(p[:i+1], ".")]
		if !ok || !known || k >= len(list) {
			return nil
		}
		v = list[k]
	}
	return v
}

func (v *value) of(doc any, at map[string]int) cell {
	if v.fold == "" {
		return cellOfJSON(descend(doc, v.path, at, false))
	}
	var all []float64
	collect(doc, v.path, &all)
	if len(all) == 0 {
		return cell{}
	}
	r := all[0]
	for _, x := range all[1:] {
		switch v.fold {
		case "min":
			r = min(r, x)
		case "max":
			r = max(r, x)
		default:
			r += x
		}
	}
	if v.fold == "mean" {
		r /= float64(len(all))
	}
	return cell{strconv.FormatFloat(r, 'g', -1, 64), types.UntypedFloat}
}

// collect gathers all numbers under a path.
func collect(v any, p path, to *[]float64) {
	if len(p) == 0 {
		if n, ok := cellOfJSON(v).number(); ok {
			*to = append(*to, n)
		}
		return
	}
	key, isList := strings.CutSuffix(p[0], "[]")
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	if !isList {
		collect(object[key], p[1:], to)
		return
	}
	list, _ := object[key].([]any)
	for _, x := range list {
		collect(x, p[1:], to)
	}
}

func cellOfJSON(v any) cell {
	switch v := v.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return cell{v.String(), types.UntypedFloat}
		}
		return cell{v.String(), types.UntypedInt}
	case string:
		return cell{v, types.UntypedString}
	case bool:
		return cell{strconv.FormatBool(v), types.UntypedBool}
	}
	return cell{}
}
