package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers/registry"
)

// differsError reports that two devices which had to be equal diverged.
type differsError struct{ div *lockstep.Divergence }

func (e *differsError) Error() string { return e.div.String() }

// checkAgainst rejects options that need a single device. A run beside another device is neither
// recorded nor repeated.
func (f *runFlags) checkAgainst() error {
	switch {
	case f.against == "" && f.same != sameCycles:
		return misused("--same selects what --against compares: add --against")
	case f.against == "":
		return nil
	case f.overhead || f.plot != "" || f.checkpoint != 0 || f.record != "":
		return misused("--against runs one workload on two devices: remove --overhead, --plot, --record and --checkpoint")
	}
	_, err := parseMode(f.same)
	return errors.Join(err, registry.Validate(f.against))
}

// beside runs the workload on two devices in lockstep and returns the result of the first.
func (f *runFlags) beside(ctx context.Context, c bench.Config) (*bench.Result, error) {
	mode, err := parseMode(f.same)
	if err != nil {
		return nil, err
	}
	pair := lockstep.New(mode, c.Device, f.against)
	other := c
	other.Device, other.Pcap, other.Waves, other.Step, other.Blocks = f.against, nil, nil, nil, false
	var results [2]*bench.Result
	var errs [2]error
	var wg sync.WaitGroup
	for i, c := range []bench.Config{c, other} {
		c.Open = pair.Side(i).Open
		wg.Go(func() {
			defer pair.Side(i).End()
			results[i], errs[i] = bench.Run(ctx, c)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return results[0], errs[0]
	}
	if errs[1] != nil && !errors.Is(errs[1], lockstep.ErrParted) && errs[0] == nil {
		return results[0], fmt.Errorf("%s: %w", f.against, errs[1])
	}
	if div := pair.Parted(); div != nil {
		if errors.Is(errs[0], lockstep.ErrParted) {
			errs[0] = nil
		}
		return results[0], errors.Join(errs[0], &differsError{div})
	}
	f.agreed = pair.Agreed()
	return results[0], errs[0]
}

// printAgreed prints what both devices had in common.
func (f *runFlags) printAgreed(w io.Writer) {
	if f.same != sameCycles {
		fmt.Fprintf(w, "equal on %s, packet by packet: %d flits of all flows\n", f.against, f.agreed)
		return
	}
	fmt.Fprintf(w, "equal on %s, cycle by cycle: %d events, and the final registers and memory\n", f.against, f.agreed)
}
