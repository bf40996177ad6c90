package regress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// A machine is what a test opens, as far as it must be built first.
type machine struct {
	device string
	nodes  int
}

// errPlanned ends a test that is only asked what it opens.
var errPlanned = errors.New("regress: only planned")

// planOf runs a test up to the machine that it opens first. Most open no other kind.
func (r *runner) planOf(test Test, device string) []machine {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so it waits for nothing
	t := &T{
		Ctx: ctx, Name: test.Name, Device: device, Dir: r.o.Dir,
		Rand: rand.New(rand.NewSource(1)), log: io.Discard, planned: new([]machine),
	}
	_ = safely(test.Run, t) // errPlanned, or why it will fail
	return *t.planned
}

// plan records what a test opens, when that is all it is asked.
func (t *T) plan(nodes int) error {
	if t.planned == nil {
		return nil
	}
	if m := (machine{t.Device, nodes}); !slices.Contains(*t.planned, m) {
		*t.planned = append(*t.planned, m)
	}
	return errPlanned
}

// Machines returns the device and the number of nodes that each test opens first; "" if it fails
// before.
func Machines(tests []Test, device string) []string {
	r := &runner{o: Options{Device: device}}
	list := make([]string, len(tests))
	for i, t := range tests {
		if plan := r.planOf(t, device); len(plan) > 0 {
			list[i] = fmt.Sprintf("%s, %d nodes", plan[0].device, plan[0].nodes)
		}
	}
	return list
}

// Prebuild builds the machines that tests open first, and returns the number of their kinds.
func Prebuild(ctx context.Context, tests []Test, device string, tell func(what string)) (int, error) {
	r := newRunner(Options{Device: device, Building: tell}, tests)
	return len(r.site.order), r.build(ctx)
}

// A site is where machines are built, before the tests begin.
type site struct {
	order []machine
	err   error
}

func newSite() *site { return &site{} }

func (s *site) need(list []machine) {
	for _, m := range list {
		if !slices.Contains(s.order, m) {
			s.order = append(s.order, m)
		}
	}
}

// build builds all. A machine that cannot be had is its tests' matter, a tool or RTL that is broken
// that of the regression.
func (s *site) build(ctx context.Context, tell func(what string)) {
	for _, m := range s.order {
		err := registry.Prepare(ctx, m.device, drivers.Options{Nodes: m.nodes, Progress: tell})
		if err != nil && !errors.Is(err, drivers.ErrConfig) && !errors.Is(err, drivers.ErrNotSupported) {
			s.err = err
			return
		}
	}
}
