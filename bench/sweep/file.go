package sweep

import (
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

	file string
	verb Verb
	rest []string // arguments after the verb's name
}

// A setting is a flag and its text.
type setting struct {
	name, text string
	where      position
}

// An axis is a flag, or a name used in braces, with its values.
type axis struct {
	name   string
	where  position
	values []cell
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

// Read parses a file and performs all checks that are possible before running.
func Read(name string, p Program) (*File, error) {
	text, err := userfile.Read(name, userfile.TextLimit)
	if err != nil {
		return nil, err
	}
	return parse(name, text, p)
}

func parse(name string, text []byte, p Program) (*File, error) {
	f, r := &File{file: name}, &reader{name}
	doc, err := r.document(text)
	if err != nil {
		return nil, err
	}
	entries, err := r.mapping(doc, "a sweep", fileKeys)
	if err != nil {
		return nil, err
	}
	if err := f.required(r, doc, entries); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := f.take(r, e); err != nil {
			return nil, err
		}
	}
	return f, f.check(p)
}

func (f *File) required(r *reader, doc *yaml.Node, entries []entry) error {
	for _, key := range []string{"schema", "name", "verb", "values"} {
		if !slices.ContainsFunc(entries, func(e entry) bool { return e.key == key }) {
			return r.at(doc).errorf("key %q is missing", key)
		}
	}
	return nil
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
	for _, x := range entries {
		text, err := r.text(x.value, x.key)
		if err != nil {
			return nil, err
		}
		list = append(list, setting{x.key, text, x.where})
	}
	return list, err
}

func (r *reader) axes(n *yaml.Node, what string) (list []axis, err error) {
	entries, err := r.mapping(n, what, nil)
	if err != nil {
		return nil, err
	}
	for _, x := range entries {
		a := axis{name: x.key, where: x.where}
		for _, v := range r.list(x.value) {
			if _, err := r.text(v, "axis "+x.key); err != nil {
				return nil, err
			}
			c := cellOf(v)
			if slices.Contains(a.values, c) {
				return nil, r.at(v).errorf("axis %s has %s twice", x.key, c.text)
			}
			a.values = append(a.values, c)
		}
		if len(a.values) == 0 {
			return nil, x.where.errorf("axis %s: expected at least one value", x.key)
		}
		list = append(list, a)
	}
	return list, nil
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
		return f.Verb.where.errorf("%v", err)
	}
	for _, s := range f.Flags {
		if err := f.checkFlag(s.name, s.where); err != nil {
			return err
		}
	}
	if f.Seeds > 0 && !slices.Contains(f.verb.Flags, "seed") {
		return f.Verb.where.errorf("seeds: %s has no --seed", f.verb.Name)
	}
	if err := f.checkAxes(); err != nil {
		return err
	}
	if err := f.checkValues(); err != nil {
		return err
	}
	return f.checkPlots()
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
	if err := f.checkBraces(); err != nil {
		return err
	}
	seen := map[string]bool{"seed": true}
	for _, s := range f.Flags {
		seen[column(s.name)] = true
	}
	for _, zip := range f.Axes {
		for _, a := range zip {
			if seen[column(a.name)] {
				return a.where.errorf("%s is set twice", a.name)
			}
			if a.name != "device" && slices.Contains(fixedColumns, column(a.name)) {
				return a.where.errorf("axis %s: there is a column of that name in every row", a.name)
			}
			seen[column(a.name)] = true
			if f.inBraces(a.name) {
				continue
			}
			if err := f.checkFlag(a.name, a.where); err != nil {
				e := err.(*Error)
				e.What += fmt.Sprintf(", and {%s} stands nowhere in verb, flags or other axes", a.name)
				return e
			}
		}
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
				list = append(list, setting{a.name, c.text, a.where})
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
	for _, s := range f.texts() {
		for _, m := range braces.FindAllStringSubmatch(s.text, -1) {
			if !slices.Contains(names, m[1]) {
				return s.where.errorf("{%s} is no axis%s", m[1], suggest.Nearest(m[1], names))
			}
		}
	}
	return nil
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
