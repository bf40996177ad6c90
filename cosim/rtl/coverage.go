package rtl

import (
	"fmt"
	"os"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// setCoverage selects a node that counts lines and toggles, and validates the directory of counts.
func (r *request) setCoverage(dir string) error {
	if dir == "" {
		return nil
	}
	if r.spec.Shared || r.cfg.Checkpoints != nil {
		return fmt.Errorf("%w: coverage=%s: a model inside, or with checkpoints, does not count", drivers.ErrNotSupported, dir)
	}
	r.spec.Coverage = true
	return nil
}

// countGrace is the time that a simulator of many nodes may need to write its counts, on a loaded
// machine minutes.
const countGrace = 5 * time.Minute

// countInto assigns a new file of the directory to the simulator.
func (r *request) countInto(dir string) error {
	if dir == "" {
		return nil
	}
	f, err := os.CreateTemp(dir, "*.dat")
	if err != nil {
		return fmt.Errorf("%w: coverage=%s: %w", drivers.ErrEnvironment, dir, err)
	}
	r.cfg.Args = append(r.cfg.Args, "--coverage", f.Name())
	r.cfg.Grace = countGrace
	return f.Close()
}
