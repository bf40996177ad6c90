package regress

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/coverage"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// Counting is the device of a regression that counts coverage: only rtl: does.
func Counting(device string) error {
	if scheme, _, _ := strings.Cut(device, ":"); scheme != "rtl" {
		return fmt.Errorf("%w: %s: only rtl: counts coverage", drivers.ErrNotSupported, device)
	}
	return registry.Check(counting(device, "DIR"))
}

// counting is a device whose simulators count into a folder.
func counting(device, dir string) string {
	sep := "?"
	if strings.Contains(device, "?") {
		sep = "&"
	}
	return device + sep + "coverage=" + dir
}

// counted is the first try of a test: it counts coverage if that is wanted.
func (r *runner) counted(out *Outcome, how try) (try, *coverage.FunctionalSink, error) {
	if r.o.Coverage == nil {
		return how, nil, nil
	}
	dir := filepath.Join(out.Dir, "coverage")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return how, nil, err
	}
	f := &coverage.FunctionalSink{}
	how.device, how.open = counting(out.Device, dir), f.Open
	return how, f, nil
}

// addCounted takes in what the try has counted, and throws the files away.
func (r *runner) addCounted(out *Outcome, f *coverage.FunctionalSink) error {
	if f == nil {
		return nil
	}
	dir := filepath.Join(out.Dir, "coverage")
	if out.Status == Skipped {
		return os.RemoveAll(dir)
	}
	if err := r.o.Coverage.Add(out.Test.Name, out.Seed, dir, f); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// Coverage is the report of a regression's coverage, its tests in order of the list and of their
// seeds.
func Coverage(base *coverage.Base, list []Outcome) *coverage.Report {
	order := func(t *coverage.Test) int {
		return slices.IndexFunc(list, func(o Outcome) bool { return o.Test.Name == t.Name && o.Seed == t.Seed })
	}
	return base.Report(func(x, y *coverage.Test) int { return order(x) - order(y) })
}
