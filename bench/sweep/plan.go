package sweep

import (
	"context"
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
)

// A Point is one run of a sweep.
type Point struct {
	// Args are the complete command without the program.
	Args []string
	// Device and Nodes are "" if the verb does not have these flags.
	Device string
	Nodes  string
	Label  string // point on the axes, without the seed
	Seed   int64

	cells  []cell   // of the axes
	passed []string // words behind the flags, from "--" on: a program and its arguments
}

// Points lists the runs: seeds vary fastest, then the last axis. It stops when ctx is done, because
// planning with many axes can take minutes. The error has every kind of mistake of a run once.
func (f *File) Points(ctx context.Context, p Program) ([]Point, error) {
	if err := f.checkSize(); err != nil {
		return nil, err
	}
	var list []Point
	var wrong refusals
	index := make([]int, len(f.Axes))
	for isLast := false; !isLast; isLast = !f.advance(index) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pt, ok, err := f.at(index)
		if err == nil && ok {
			ok, err = f.wanted(&pt)
		}
		if err != nil {
			return nil, err
		}
		for k := range max(1, f.Seeds) {
			if !ok {
				break
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			one, err := f.seeded(pt, k)
			if err != nil {
				return nil, err
			}
			if err := p.Check(one.Args); err != nil {
				wrong.add(&one, err)
			}
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil, f.Verb.where.errorf("where leaves no run")
	}
	return list, wrong.join(f, len(list))
}

// advance moves to the next combination of values; false: there is none.
func (f *File) advance(index []int) bool {
	for i := len(index) - 1; i >= 0; i-- {
		if index[i]++; index[i] < len(f.Axes[i][0].values) {
			return true
		}
		index[i] = 0
	}
	return false
}

// refusals are the reasons why the verb does not accept commands.
type refusals struct {
	reasons []string
	first   map[string]string // the first command refused for a reason
	points  map[string]int
}

func (w *refusals) add(pt *Point, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		if list := joined.Unwrap(); strings.Contains(err.Error(), "\n") {
			for _, err := range list {
				w.add(pt, err)
			}
			return
		}
	}
	reason := strings.TrimPrefix(err.Error(), drivers.ErrConfig.Error()+": ")
	if w.first == nil {
		w.first, w.points = map[string]string{}, map[string]int{}
	}
	if w.points[reason]++; w.points[reason] == 1 {
		w.reasons = append(w.reasons, reason)
		w.first[reason] = strings.Join(pt.Args, " ")
	}
}

// join returns an error for each reason, at the line of the flag or axis that it mentions.
func (w *refusals) join(f *File, runs int) error {
	var errs []error
	for _, reason := range w.reasons {
		some := ""
		if n := w.points[reason]; n > 1 || runs > 1 {
			some = fmt.Sprintf(" (%d of %d runs)", n, runs)
		}
		errs = append(errs, f.lineOf(reason).errorf("nicloop %s: %s%s", w.first[reason], reason, some))
	}
	return ordered(errs...)
}

var flagShape = regexp.MustCompile(`--([a-z][a-z0-9-]*)`)

// lineOf is the line of the first flag or axis that a text mentions by its name or its value;
// otherwise that of the verb.
func (f *File) lineOf(reason string) position {
	lines := map[string]position{}
	for _, s := range slices.Backward(f.texts()) {
		lines[s.name] = s.where
		if s.text != "" && strings.Contains(reason, strconv.Quote(s.text)) {
			return s.where
		}
	}
	for _, m := range flagShape.FindAllStringSubmatch(reason, -1) {
		if at, ok := lines[m[1]]; ok {
			return at
		}
	}
	return f.Verb.where
}

// checkSize refuses a sweep with more points than a journal could store, regardless of conditions.
func (f *File) checkSize() error {
	factors := []int{max(1, f.Seeds)}
	for _, zip := range f.Axes {
		factors = append(factors, len(zip[0].values))
	}
	if _, ok := limits.Product(limits.Runs, factors...); !ok {
		return f.Verb.where.errorf("axes and seeds have more than %d combinations: remove values or seeds", limits.Runs)
	}
	return nil
}

// conditional empties the cells of axes that the point does not have. ok is false if the point is
// another one's repetition.
func (f *File) conditional(pt *Point, index []int) (ok bool, err error) {
	k := 0
	for i, zip := range f.Axes {
		for _, a := range zip {
			holds := true
			if a.when != nil {
				if holds, err = f.holds(a.when, pt); err != nil {
					return false, err
				}
			}
			if !holds {
				if index[i] != 0 {
					return false, nil
				}
				pt.cells[k] = cell{}
			}
			k++
		}
	}
	return true, nil
}

// holds evaluates a condition over the axes. It does not hold if it needs an axis that the point
// does not have.
func (f *File) holds(x *expression, pt *Point) (bool, error) {
	s, names := scope{}, f.axisNames()
	for i := range names {
		if names[i] = column(names[i]); pt.cells[i] != (cell{}) {
			s[names[i]] = pt.cells[i]
		}
	}
	ok, err := x.holds(s, names)
	if err != nil && isAbsent(err) && f.mentionsEmpty(x, pt) {
		return false, nil
	}
	return ok, err
}

// at returns the point at an index of each axis; ok is false for a repetition of another point.
func (f *File) at(index []int) (pt Point, ok bool, err error) {
	for i, zip := range f.Axes {
		for _, a := range zip {
			pt.cells = append(pt.cells, a.values[index[i]])
		}
	}
	if ok, err = f.conditional(&pt, index); err != nil || !ok {
		return pt, false, err
	}
	names := f.axisNames()
	fill := func(s string) string {
		for range 4 { // a value may refer to another axis
			before := s
			for i, name := range names {
				s = strings.ReplaceAll(s, "{"+name+"}", pt.cells[i].text)
			}
			if s == before {
				break
			}
		}
		return s
	}
	var label []string
	for i := range pt.cells {
		if pt.cells[i] == (cell{}) {
			continue
		}
		pt.cells[i].text = fill(pt.cells[i].text)
		label = append(label, column(names[i])+"="+pt.cells[i].text)
	}
	pt.Label, pt.Device, pt.Nodes = strings.Join(label, ","), f.verb.Device, f.verb.Nodes
	for _, w := range append(strings.Fields(f.verb.Name), f.rest...) {
		pt.Args = append(pt.Args, fill(w))
	}
	if i := slices.Index(pt.Args, "--"); i >= 0 {
		pt.Args, pt.passed = pt.Args[:i:i], pt.Args[i:]
	}
	set := func(name, text string) {
		pt.Args = append(pt.Args, "--"+name+"="+text)
		switch name {
		case "device":
			pt.Device = text
		case "nodes":
			pt.Nodes = text
		}
	}
	for _, s := range f.Flags {
		holds := true
		if s.when != nil {
			if holds, err = f.holds(s.when, &pt); err != nil {
				return pt, false, err
			}
		}
		if holds {
			set(s.name, fill(s.text))
		}
	}
	for i, name := range names {
		if slices.Contains(f.verb.Flags, name) && pt.cells[i] != (cell{}) {
			set(name, pt.cells[i].text)
		}
	}
	return pt, true, nil
}

// wanted evaluates the conditions of the file. A condition on an axis that the point does not have
// excludes nothing.
func (f *File) wanted(pt *Point) (bool, error) {
	s, names := scope{}, f.axisNames()
	for i := range names {
		if names[i] = column(names[i]); pt.cells[i] != (cell{}) {
			s[names[i]] = pt.cells[i]
		}
	}
	for i := range f.Where {
		ok, err := f.Where[i].holds(s, names)
		if err != nil && isAbsent(err) && f.mentionsEmpty(&f.Where[i], pt) {
			continue
		}
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// mentionsEmpty reports whether a condition needs an axis that the point does not have.
func (f *File) mentionsEmpty(x *expression, pt *Point) bool {
	for i, name := range f.axisNames() {
		if pt.cells[i] == (cell{}) && strings.Contains(x.text, column(name)) {
			return true
		}
	}
	return false
}

// seeded returns the point with its k-th seed.
func (f *File) seeded(pt Point, k int) (Point, error) {
	pt.Seed, pt.Args = f.First+int64(k), slices.Clone(pt.Args)
	if f.Seeds > 0 {
		if pt.Seed < f.First {
			return pt, f.Verb.where.errorf("seeds: the last one is beyond what there is")
		}
		pt.Args = append(pt.Args, fmt.Sprintf("--seed=%d", pt.Seed))
	}
	if slices.Contains(f.verb.Flags, "db") { // the sweep stores the results itself
		pt.Args = append(pt.Args, "--db=")
	}
	pt.Args = append(append(pt.Args, "--json"), pt.passed...)
	return pt, nil
}

// Test is the name of a point in the store of runs.
func (f *File) Test(pt *Point) string { return strings.TrimSuffix(f.Name+"/"+pt.Label, "/") }

func text(s string) cell { return cell{s, types.UntypedString} }
