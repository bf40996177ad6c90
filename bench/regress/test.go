package regress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
	"github.com/sirupsen/logrus"
)

// A Test is one named test.
type Test struct {
	Name string // area/name
	Tags []string
	Doc  string
	Run  func(t *T) error
	// Tolerance is by how many per cent the test may exceed its baseline of cycles.
	Tolerance float64
	// WallClock marks a test that acts at a wall-clock time, such as killing a simulator. Its
	// cycles differ from run to run, and are compared with nothing.
	WallClock bool
}

// T is what a test has to work with.
type T struct {
	Ctx    context.Context
	Name   string
	Seed   int64
	Device string
	Dir    string // this test's folder
	Rand   *rand.Rand

	OverLine bool // tagged Line
	log      io.Writer
	logger   *logrus.Logger // of the layers below
	open     opener         // nil: registry.Open
	note     string         // for the table of results
	waves    *drivers.WaveWindow
	// Asked for at first: states kept for a repeat, and what that showed.
	checkpoints *drivers.Checkpoints
	repeated    *drivers.Repeated

	sys         drivers.Timed // the system opened last
	stopClosing func() bool   // of sys, at the end of the context
	spent       drivers.Time  // simulated time of systems closed
	ended       drivers.Time  // of the last of them alone
	clock       drivers.Time  // period of the system opened last; 0: that of the NIC
	failed      error         // of the first call of Fail

	failing  *bench.Config // the workload that failed last
	hardware string        // hash of what the system opened last was built from
	closeErr error         // why what a system wrote, but for waves, is not whole
	wavesErr error         // why waves that were asked for are not whole

	building func(what string)
	planned  *[]machine // not nil: nothing is opened, see planOf
}

// Logf writes a line to the test's log.
func (t *T) Logf(format string, args ...any) { fmt.Fprintf(t.log, format+"\n", args...) }

// Notef says what a test counted: in its log, and under the table of results.
func (t *T) Notef(format string, args ...any) {
	t.note = fmt.Sprintf(format, args...)
	t.Logf("%s", t.note)
}

// Open opens the test's device; the runner closes it.
func (t *T) Open(nodes, memory int, trace drivers.TraceSink) (drivers.Timed, error) {
	if err := t.plan(nodes); err != nil {
		return nil, err
	}
	sys, err := t.opener()(t.Ctx, t.Device, drivers.Options{
		Nodes: nodes, MemoryBytes: memory, Trace: trace, Waves: t.wavesOf(nodes), Checkpoints: t.checkpointsOf(nodes),
		LogFile: t.simulatorLog(), Log: t.logger, Progress: t.building,
	})
	if err != nil {
		return nil, err
	}
	timed, err := t.timed(sys)
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	t.closeSystem(nil)
	t.sys, t.hardware, t.clock = timed, timed.Info().Hash, drivers.Time(timed.Info().ClockPS)
	t.stopClosing = context.AfterFunc(t.Ctx, func() { timed.Close() })
	return timed, nil
}

// OpenFreeRunning opens the test's device whether or not its clock is controlled: all nodes of a
// device that discovers them, otherwise two simulated ones. The test closes it.
func (t *T) OpenFreeRunning(memory int) (drivers.System, error) {
	nodes := 2
	if registry.DiscoversNodes(t.Device) {
		nodes = 0
	}
	if err := t.plan(nodes); err != nil {
		return nil, err
	}
	sys, err := t.opener()(t.Ctx, t.Device, drivers.Options{
		Nodes: nodes, MemoryBytes: memory, Waves: t.wavesOf(nodes), LogFile: t.simulatorLog(), Log: t.logger, Progress: t.building,
	})
	if err == nil {
		t.hardware = sys.Info().Hash
	}
	return sys, err
}

func (t *T) opener() opener {
	if t.open == nil {
		return registry.Open
	}
	return t.open
}

// timed is a system in which the test can let time pass.
func (t *T) timed(sys drivers.System) (drivers.Timed, error) {
	if timed, ok := sys.(drivers.Timed); ok {
		return timed, nil
	}
	err := fmt.Errorf("%w: %s has no simulated time", drivers.ErrNotSupported, t.Device)
	if t.OverLine {
		if timed, ok := openLine(t.Ctx, sys); ok {
			return timed, nil
		}
		return nil, err
	}
	if can := sys.Device(0).Capabilities(); !can.Has(drivers.CanDMA) {
		err = fmt.Errorf("%w, and its NICs do not read what software stores (it has: %v)", err, can)
	}
	return nil, err
}

// wavesOf is what the waves of a system of so many nodes show.
func (t *T) wavesOf(nodes int) *drivers.WaveWindow {
	if t.waves == nil {
		return nil
	}
	w := *t.waves
	w.Nodes = below(w.Nodes, nodes)
	return &w
}

// checkpointsOf is the same for a repeat from a checkpoint. Not every device has them.
func (t *T) checkpointsOf(nodes int) *drivers.Checkpoints {
	if t.checkpoints == nil || !registry.CanRepeat(t.Device) {
		return nil
	}
	k := *t.checkpoints
	k.Nodes = below(k.Nodes, nodes)
	return &k
}

func below(list []int, nodes int) (kept []int) {
	for _, n := range list {
		if n < nodes {
			kept = append(kept, n)
		}
	}
	return kept
}

// keepRepeated takes in what a repeat showed. One that failed is no loss: the whole test is
// repeated then.
func (t *T) keepRepeated(r drivers.Repeated, err error) {
	if err != nil {
		t.Logf("repeating from a checkpoint: %v", err)
		return
	}
	t.repeated = &r
}

// AddSimulated adds the simulated time of a system that the test has closed itself.
func (t *T) AddSimulated(at drivers.Time) { t.spent, t.ended = t.spent+at, at }

// opened takes in what a world runs on.
func (t *T) opened(sys drivers.System) { t.hardware = sys.Info().Hash }

// closeSystem closes what the test has opened; if the test failed, its end is repeated before.
func (t *T) closeSystem(failed error) {
	if t.sys == nil {
		return
	}
	if r, ok := t.sys.(drivers.Repeater); ok && failed != nil && t.checkpoints != nil && t.Ctx.Err() == nil {
		t.keepRepeated(r.Repeat())
	}
	t.stopClosing() // a context that lives for a whole regression would keep every closed system
	t.AddSimulated(drivers.Time(t.sys.Now()) * drivers.Time(t.sys.Info().ClockPS))
	switch err := t.sys.Close(); {
	case err != nil && t.waves != nil:
		t.wavesErr = err
	case err != nil:
		t.closeErr = err
	}
	t.sys = nil
}

// equip has a world run on the test's device and report to the test.
func (t *T) equip(c *bench.Config) {
	c.Device, c.Seed, c.Waves = t.Device, t.Seed, t.wavesOf(c.Nodes)
	c.LogFile, c.Log, c.Building = t.simulatorLog(), t.logger, t.building
	c.Checkpoints, c.Repeated = t.checkpointsOf(c.Nodes), t.keepRepeated
	c.Ended, c.Open, c.System = t.AddSimulated, t.open, t.opened
}

func (t *T) simulatorLog() string { return filepath.Join(t.Dir, "simulator.log") }

// Run runs a workload on the test's device.
func (t *T) Run(c bench.Config) (*bench.Result, error) {
	if err := t.plan(c.Nodes); err != nil {
		return nil, err
	}
	t.equip(&c)
	t.Logf("run %s: %d nodes x %d processes, sizes %v, flow %+v", c.Workload, c.Nodes, c.Procs, c.Sizes, c.Velo)
	res, err := bench.Run(t.Ctx, c)
	if err != nil {
		t.failing = &c
		return nil, err
	}
	for _, r := range res.Rows {
		t.Logf("%d bytes: %v per iteration, %+v", r.Bytes, r.Iteration, r.Flow)
	}
	return res, nil
}

// Launch runs a program on every rank of a world on the test's device.
func (t *T) Launch(c bench.Config, buffers int, body func(*host.Rank) error) error {
	if err := t.plan(c.Nodes); err != nil {
		return err
	}
	t.equip(&c)
	return bench.Launch(t.Ctx, c, buffers, body)
}

// long is the tag of tests that only their own name or tag selects.
const long = "long"

// A NoMatchError is a pattern that no test matches. It wraps drivers.ErrConfig.
type NoMatchError struct {
	Pattern string
	Nearest string // ": did you mean …", or ""
	List    string // command that lists the tests
}

func (e *NoMatchError) Error() string {
	return fmt.Sprintf("%v: no test matches %q%s: `%s` lists them", drivers.ErrConfig, e.Pattern, e.Nearest, e.List)
}

// Unwrap makes it an error of the command line.
func (e *NoMatchError) Unwrap() error { return drivers.ErrConfig }

// Select gives the tests whose name or tag matches one of the patterns; all but the long
// ones without patterns. A pattern that matches nothing is an error.
func Select(tests []Test, patterns []string) ([]Test, error) {
	if len(patterns) == 0 {
		return slices.DeleteFunc(slices.Clone(tests), func(t Test) bool { return slices.Contains(t.Tags, long) }), nil
	}
	picked := make([]bool, len(tests))
	for _, p := range patterns {
		found := false
		for i, t := range tests {
			ok, err := t.matches(p)
			if err != nil {
				return nil, fmt.Errorf("%w: pattern %q: %v", drivers.ErrConfig, p, err)
			}
			picked[i] = picked[i] || ok
			found = found || ok
		}
		if !found {
			return nil, &NoMatchError{p, suggest.Nearest(p, names(tests)), "nicloop regress -l"}
		}
	}
	var list []Test
	for i, t := range tests {
		if picked[i] {
			list = append(list, t)
		}
	}
	return list, nil
}

func (t *Test) matches(pattern string) (bool, error) {
	if slices.Contains(t.Tags, pattern) {
		return true, nil
	}
	if slices.Contains(t.Tags, long) {
		return pattern == t.Name, nil
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "*"
	}
	return path.Match(pattern, t.Name)
}

func names(tests []Test) (list []string) {
	for _, t := range tests {
		list = append(list, t.Name)
	}
	return list
}
