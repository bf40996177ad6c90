package host

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// computeBeside posts a message at both ranks and computes for longer than it takes. It returns
// which operations were complete after that, by rank, and the times of the computation and of an
// empty call.
func computeBeside(t *testing.T, p Rendezvous, n int, helped bool) (done [2]bool, call [2]drivers.Time) {
	const long = 300 * drivers.Microsecond
	launch(t, inPairs(p), func(r *Rank) error {
		if helped {
			r.UseHelper()
		}
		b, err := r.Alloc(n)
		if err != nil {
			return err
		}
		var q *Request
		from := r.Now()
		if r.ID() == 0 {
			copy(b, letter(n, 1))
			q, err = r.Isend(1, 1, b)
		} else {
			q, err = r.Irecv(0, 1, b)
		}
		if err != nil {
			return err
		}
		call[r.ID()] = r.Now() - from
		from = r.Now()
		r.Compute(long)
		if took := r.Now() - from; took < long || took > long+drivers.Microsecond {
			return fmt.Errorf("computing for %v took %v", long, took)
		}
		done[r.ID()] = q.Done()
		if _, err := r.Wait(q); err != nil || r.ID() == 0 {
			return err
		}
		return expect(b, 1)
	})
	return done, call
}

// With progress threads, a message that needs library calls at both ends completes while both ranks
// compute.
func TestHelper(t *testing.T) {
	for _, p := range longProtocols {
		for _, n := range []int{40, 30000} {
			with, locked := computeBeside(t, p, n, true)
			require.Equal(t, [2]bool{true, true}, with, "%s, %d bytes", p, n)
			without, free := computeBeside(t, p, n, false)
			require.Equal(t, [2]bool{n <= EagerMax, false}, without, "%s, %d bytes: progress without a call", p, n)
			require.Equal(t, free[1]+DefaultCost().Lock, locked[1], "%s, %d bytes: the lock of a call", p, n)
		}
	}
}

// An error that the progress thread meets is reported once, by the next call that waits or tests.
func TestHelperFails(t *testing.T) {
	for _, p := range []plan{inPairs(RGET), {nodes: 2, procs: 1}} { // waiting has a code path of its own without RMA
		launch(t, p, failsHelped)
	}
}

func failsHelped(r *Rank) error {
	if r.ID() == 0 {
		return nil
	}
	r.UseHelper()
	q, err := r.Irecv(0, 1, nil)
	if err != nil {
		return err
	}
	for i, call := range []func() error{
		func() error { _, err := r.Wait(q); return err },
		func() error { _, _, err := r.Test(q); return err },
		func() error { _, err := r.Probe(0, 1); return err },
		func() error { _, err := r.engine.Step(); return err },
	} {
		r.engine.Failed = errPlanted
		from := r.Now()
		r.Compute(drivers.Microsecond)
		if r.Now() != from+drivers.Microsecond {
			return fmt.Errorf("call %d: computing took %v", i, r.Now()-from)
		}
		if err := call(); err != errPlanted || r.engine.Failed != nil {
			return fmt.Errorf("call %d: %v, then %v", i, err, r.engine.Failed)
		}
	}
	r.engine.Waiting = nil
	return nil
}

var errPlanted = errors.New("planted")
