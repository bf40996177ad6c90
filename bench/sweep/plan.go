package sweep

import (
	"context"
	"fmt"
	"go/types"
	"slices"
	"strings"

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
// planning with many axes can take minutes.
func (f *File) Points(ctx context.Context, p Program) ([]Point, error) {
	if err := f.checkSize(); err != nil {
		return nil, err
	}
	var list []Point
	index := make([]int, len(f.Axes))
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pt := f.at(index)
		ok, err := f.wanted(&pt)
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
				return nil, f.Verb.where.errorf("nicloop %s: %v", strings.Join(one.Args, " "), err)
			}
			list = append(list, one)
		}
		i := len(index) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < len(f.Axes[i][0].values) {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			break
		}
	}
	if len(list) == 0 {
		return nil, f.Verb.where.errorf("where leaves no run")
	}
	return list, nil
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

// at returns the point at an index of each axis.
func (f *File) at(index []int) (pt Point) {
	for i, zip := range f.Axes {
		for _, a := range zip {
			pt.cells = append(pt.cells, a.values[index[i]])
		}
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
		set(s.name, fill(s.text))
	}
	for i, name := range names {
		if slices.Contains(f.verb.Flags, name) {
			set(name, pt.cells[i].text)
		}
	}
	return pt
}

func (f *File) wanted(pt *Point) (bool, error) {
	s, names := scope{}, f.axisNames()
	for i := range names {
		names[i] = column(names[i])
		s[names[i]] = pt.cells[i]
	}
	for i := range f.Where {
		if ok, err := f.Where[i].holds(s, names); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
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
