package sweep

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/drivers/userfile"
	"go.yaml.in/yaml/v3"
)

// Version is the supported version of sweep files.
const Version = 1

// A File is a parsed sweep file.
type File struct {
	Name    string
	Doc     string
	Verb    setting // words
	Flags   []setting
	Axes    [][]axis // axes of one element advance together
	Where   []expression
	First   int64 // seed
	Seeds   int   // 0: the verb has no seeds, or uses its default
	Values  []value
	Derived []expression
	Plots   []plot

	file   string
	verb   Verb
	rest   []string        // arguments after the verb's name
	broken map[string]bool // keys of the file with mistakes
}

// A setting is a flag and its text. Only points for which when holds have it.
type setting struct {
	name, text string
	where      position
	when       *expression
}

// An axis is a flag, or a name used in braces, with its values. Points for which when does not hold
// do not have the flag; the axis has a single, empty value there.
type axis struct {
	name   string
	where  position
	values []cell
	when   *expression
}

// A Verb describes a verb that a sweep may run.
type Verb struct {
	Name  string
	Flags []string
	// Device and Nodes are the defaults of these flags; "" if the verb does not have them.
	Device, Nodes string
	// Forms are the types of its JSON output.
	Forms []reflect.Type
}

// A Program defines verbs.
type Program interface {
	// Find returns the verb that the words start with, and the remaining words.
	Find(words []string) (v Verb, rest []string, err error)
	// Check validates the arguments of a verb without running it.
	Check(args []string) error
}

var fileKeys = []string{"schema", "name", "doc", "verb", "flags", "axes", "zips", "where", "seeds", "values", "derived", "plots"}

var nameShape = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*$`)

// Plan parses a file and lists its runs. It performs all checks that are possible before running;
// the error has all mistakes that are found, in order of their lines.
func Plan(ctx context.Context, name string, p Program) (*File, []Point, error) {
	text, err := userfile.Read(name, userfile.TextLimit)
	if err != nil {
		return nil, nil, err
	}
	f, err := parse(name, text, p)
	if f == nil || err != nil && !f.canPlan() {
		return nil, nil, err
	}
	points, perr := f.Points(ctx, p)
	return f, points, ordered(err, perr)
}

// canPlan reports whether the keys that determine the runs have no mistake.
func (f *File) canPlan() bool {
	for _, key := range []string{"schema", "verb", "flags", "axes", "zips", "where", "seeds"} {
		if f.broken[key] {
			return false
		}
	}
	return true
}

// parse returns the file also if it has mistakes, unless it is no mapping.
func parse(name string, text []byte, p Program) (*File, error) {
	f, r := &File{file: name, broken: map[string]bool{}}, &reader{name}
	doc, err := r.document(text)
	if err != nil {
		return nil, err
	}
	entries, err := r.mapping(doc, "a sweep", fileKeys)
	if entries == nil && err != nil {
		return nil, err
	}
	errs := []error{err, f.required(r, doc, entries)}
	if errors.Join(errs...) != nil {
		f.broken["verb"] = true // without all keys there are only consequential mistakes
	}
	for _, e := range entries {
		err := f.take(r, e)
		f.broken[e.key] = f.broken[e.key] || err != nil
		errs = append(errs, err)
	}
	if f.canPlan() {
		errs = append(errs, f.check(p))
	}
	return f, ordered(errs...)
}

func (f *File) required(r *reader, doc *yaml.Node, entries []entry) error {
	var errs []error
	for _, key := range []string{"schema", "name", "verb", "values"} {
		if !slices.ContainsFunc(entries, func(e entry) bool { return e.key == key }) {
			errs = append(errs, r.at(doc).errorf("key %q is missing", key))
		}
	}
	return errors.Join(errs...)
}

// take parses one key of the file.
func (f *File) take(r *reader, e entry) (err error) {
	switch e.key {
	case "schema":
		version := 0
		if err := r.decode(e.value, e.key, &version); err != nil {
			return err
		}
		if version != Version {
			return e.where.errorf("schema %d: this program reads %d", version, Version)
		}
	case "name":
		if f.Name, err = r.text(e.value, e.key); err == nil && !nameShape.MatchString(f.Name) {
			err = e.where.errorf("name %q: expected small letters, digits, and - _ . between them", f.Name)
		}
	case "doc":
		f.Doc, err = r.text(e.value, e.key)
	case "verb":
		f.Verb.where = e.where
		f.Verb.text, err = r.text(e.value, e.key)
	case "flags":
		f.Flags, err = r.flags(e)
	case "axes":
		var list []axis
		list, err = r.axes(e.value, e.key)
		for _, a := range list {
			f.Axes = append(f.Axes, []axis{a})
		}
	case "zips":
		err = f.zips(r, e)
	case "where":
		f.Where, err = r.conditions(e)
	case "seeds":
		err = f.seeds(r, e)
	case "values":
		f.Values, err = r.values(e)
	case "derived":
		f.Derived, err = r.derived(e)
	case "plots":
		f.Plots, err = r.plots(e)
	}
	return err
}

func (r *reader) flags(e entry) (list []setting, err error) {
	entries, err := r.mapping(e.value, e.key, nil)
	errs := []error{err}
	for _, x := range entries {
		value, when, err := r.withCondition(x, "value")
		if err == nil {
			var text string
			text, err = r.text(value, x.key)
			list = append(list, setting{x.key, text, x.where, when})
		}
		errs = append(errs, err)
	}
	return list, errors.Join(errs...)
}

// withCondition returns the value of a flag or axis, and the condition of points that have it:
// chunk: {value: 4096, when: 'rendezvous == "chunked"'}.
func (r *reader) withCondition(x entry, key string) (value *yaml.Node, when *expression, err error) {
	if x.value.Kind != yaml.MappingNode {
		return x.value, nil, nil
	}
	entries, err := r.mapping(x.value, x.key, []string{key, "when"})
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if e.key == key {
			value = e.value
			continue
		}
		text, err := r.text(e.value, e.key)
		if err != nil {
			return nil, nil, err
		}
		when = &expression{text: text, where: r.at(e.value)}
	}
	if value == nil {
		return nil, nil, x.where.errorf("%s: key %q is missing", x.key, key)
	}
	return value, when, nil
}

func (r *reader) axes(n *yaml.Node, what string) (list []axis, err error) {
	entries, err := r.mapping(n, what, nil)
	errs := []error{err}
	for _, x := range entries {
		a, err := r.axis(x)
		errs, list = append(errs, err), append(list, a)
	}
	return list, errors.Join(errs...)
}

func (r *reader) axis(x entry) (a axis, err error) {
	a = axis{name: x.key, where: x.where}
	values, when, err := r.withCondition(x, "values")
	if err != nil {
		return a, err
	}
	a.when = when
	for _, v := range r.list(values) {
		if _, err := r.text(v, "axis "+x.key); err != nil {
			return a, err
		}
		c := cellOf(v)
		if slices.Contains(a.values, c) {
			return a, r.at(v).errorf("axis %s has %s twice", x.key, c.text)
		}
		a.values = append(a.values, c)
	}
	if len(a.values) == 0 {
		return a, x.where.errorf("axis %s: expected at least one value", x.key)
	}
	return a, nil
}

// zips parses groups of axes with the same length that advance together.
func (f *File) zips(r *reader, e entry) error {
	for _, n := range r.list(e.value) {
		list, err := r.zipped(n)
		if err != nil {
			return err
		}
		for _, a := range list {
			if len(a.values) != len(list[0].values) {
				return a.where.errorf("%s has %d values, %s in the same zip has %d", a.name, len(a.values), list[0].name, len(list[0].values))
			}
		}
		f.Axes = append(f.Axes, list)
	}
	return nil
}

// zipped parses axes whose values may repeat.
func (r *reader) zipped(n *yaml.Node) (list []axis, err error) {
	entries, err := r.mapping(n, "a zip", nil)
	for _, x := range entries {
		a := axis{name: x.key, where: x.where}
		for _, v := range r.list(x.value) {
			if _, err := r.text(v, "axis "+x.key); err != nil {
				return nil, err
			}
			a.values = append(a.values, cellOf(v))
		}
		list = append(list, a)
	}
	if err == nil && len(list) == 0 {
		err = r.at(n).errorf("a zip: expected axes")
	}
	return list, err
}

func (f *File) seeds(r *reader, e entry) error {
	entries, err := r.mapping(e.value, e.key, []string{"first", "count"})
	if err != nil {
		return err
	}
	f.First, f.Seeds = 1, 1
	for _, x := range entries {
		if x.key == "first" {
			err = r.decode(x.value, "first", &f.First)
		} else if err = r.decode(x.value, "count", &f.Seeds); err == nil && f.Seeds < 1 {
			err = x.where.errorf("count %d: expected at least 1", f.Seeds)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check validates the file against the verb.
func (f *File) check(p Program) (err error) {
	words := strings.Fields(f.Verb.text)
	if f.verb, f.rest, err = p.Find(words); err != nil {
		f.broken["verb"] = true
		return errors.Join(f.Verb.where.errorf("%v", err), f.checkBraces())
	}
	var errs []error
	for _, s := range f.Flags {
		errs = append(errs, f.checkFlag(s.name, s.where))
	}
	if f.Seeds > 0 && !slices.Contains(f.verb.Flags, "seed") {
		errs = append(errs, f.Verb.where.errorf("seeds: %s has no --seed", f.verb.Name))
	}
	errs = append(errs, f.checkAxes())
	f.broken["verb"] = errors.Join(errs...) != nil
	if f.broken["values"] || f.broken["derived"] {
		return errors.Join(errs...)
	}
	values := f.checkValues()
	if errs = append(errs, values); values == nil {
		errs = append(errs, f.checkPlots())
	}
	return errors.Join(errs...)
}

// reserved lists flags that the sweep sets itself, or whose files would be overwritten by other
// runs.
var reserved = []string{"json", "seed", "db", "output", "force", "pcap", "record", "waves", "plot", "write", "out", "xunit", "help"}

func (f *File) checkFlag(name string, where position) error {
	switch {
	case slices.Contains(reserved, name):
		return where.errorf("flag %q is not for sweeps%s", name, map[bool]string{true: ": give seeds"}[name == "seed"])
	case !slices.Contains(f.verb.Flags, name):
		return where.errorf("%s has no flag %q%s", f.verb.Name, name, suggest.Nearest(name, f.verb.Flags))
	}
	return nil
}

func (f *File) checkAxes() error {
	errs := []error{f.checkBraces()}
	seen := map[string]bool{"seed": true}
	for _, s := range f.Flags {
		seen[column(s.name)] = true
	}
	for _, zip := range f.Axes {
		for _, a := range zip {
			errs = append(errs, f.checkAxis(&a, seen[column(a.name)]))
			seen[column(a.name)] = true
		}
	}
	return errors.Join(errs...)
}

func (f *File) checkAxis(a *axis, isSet bool) error {
	switch {
	case isSet:
		return a.where.errorf("%s is set twice", a.name)
	case a.name != "device" && slices.Contains(fixedColumns, column(a.name)):
		return a.where.errorf("axis %s: there is a column of that name in every row", a.name)
	case f.inBraces(a.name):
		return nil
	}
	if err := f.checkFlag(a.name, a.where); err != nil {
		e := err.(*Error)
		e.What += fmt.Sprintf(", and {%s} stands nowhere in verb, flags or other axes", a.name)
		return e
	}
	return nil
}

var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// texts lists all texts that may contain braces.
func (f *File) texts() []setting {
	list := append([]setting{f.Verb}, f.Flags...)
	for _, zip := range f.Axes {
		for _, a := range zip {
			for _, c := range a.values {
				list = append(list, setting{name: a.name, text: c.text, where: a.where})
			}
		}
	}
	return list
}

func (f *File) inBraces(name string) bool {
	return slices.ContainsFunc(f.texts(), func(s setting) bool { return strings.Contains(s.text, "{"+name+"}") })
}

func (f *File) checkBraces() error {
	names := f.axisNames()
	var errs []error
	for _, s := range f.texts() {
		for _, m := range braces.FindAllStringSubmatch(s.text, -1) {
			if !slices.Contains(names, m[1]) {
				errs = append(errs, s.where.errorf("{%s} is no axis%s", m[1], suggest.Nearest(m[1], names)))
			}
		}
	}
	return errors.Join(errs...)
}

func (f *File) axisNames() (names []string) {
	for _, zip := range f.Axes {
		for _, a := range zip {
			names = append(names, a.name)
		}
	}
	return names
}

// column is a name as used in columns and expressions.
func column(name string) string { return strings.ReplaceAll(name, "-", "_") }
