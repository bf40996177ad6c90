package bench

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
)

// A Reference is the run of a row without flow control, into mailboxes that never filled up.
type Reference struct {
	Slots     int          `json:"slots"` // of a mailbox, per peer
	Iteration drivers.Time `json:"per_iteration_ps"`
	Overhead  float64      `json:"overhead_share"` // additional time of the row relative to this run
}

// Slots per peer of a reference's mailboxes: the first attempt, and the maximum.
const (
	referenceSlots     = 80
	mostReferenceSlots = 1280
)

// WithoutStall calls run with increasing mailbox sizes until run reports that no mailbox was full.
// Overheads are relative to that run.
func WithoutStall(run func(slots int) (stalled bool, err error)) error {
	for slots := referenceSlots; slots <= mostReferenceSlots; slots *= 2 {
		if stalled, err := run(slots); err != nil || !stalled {
			return err
		}
	}
	return fmt.Errorf("%w: without flow control even mailboxes of %d slots per peer fill up, so there is no reference; use fewer or shorter messages",
		drivers.ErrConfig, mostReferenceSlots)
}

// RunWithReference is Run, followed by the same without flow control: every row contains the
// overhead of flow control. The verified bytes and the simulated time include all runs.
func RunWithReference(ctx context.Context, c Config) (*Result, error) {
	if c.Velo.Flow == velo.None {
		return nil, fmt.Errorf("%w: overhead of flow control none: expected static or dynamic", drivers.ErrConfig)
	}
	res, err := Run(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Velo.Flow, c.Blocks = velo.None, false
	c.Pcap, c.Record, c.Waves, c.Checkpoints = nil, nil, nil, nil
	err = WithoutStall(func(slots int) (bool, error) {
		c.Velo.Slots = slots
		ref, err := Run(ctx, c)
		if err != nil {
			return false, fmt.Errorf("the run without flow control: %w", err)
		}
		res.Verified, res.End, res.Cycles = res.Verified+ref.Verified, res.End+ref.End, res.Cycles+ref.Cycles
		for i := range res.Rows {
			at := ref.Rows[i].Iteration
			res.Rows[i].Reference = &Reference{slots, at, float64(res.Rows[i].Iteration)/float64(at) - 1}
		}
		return ref.stalled(), nil
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// stalled reports whether a mailbox was ever full.
func (res *Result) stalled() bool {
	for _, n := range res.NICs {
		if n.RxStall > 0 {
			return true
		}
	}
	return false
}
