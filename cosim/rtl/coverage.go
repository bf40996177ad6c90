package rtl

import (
	"fmt"
	"os"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// setCoverage has the node built that counts lines and toggles, for a folder of counts.
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

// countGrace: a simulator of many nodes writes its counts for a while, on a machine that others use
// for minutes.
const countGrace = 5 * time.Minute

// countInto gives the simulator a new file of the folder.
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
