package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Calls that wait for several requests. Entries that are nil and persistent requests that are idle
// are skipped.

// A Completion describes a completed request of a list.
type Completion struct {
	Index int
	Status
	Err error
}

// open reports whether the completion of a request has not been reported yet.
func (q *Request) open() bool { return q != nil && !q.idle }

// survey returns the index of the first completed request of a list, and one that is in progress.
func survey(list []*Request) (done int, under *Request) {
	for i, q := range list {
		switch {
		case !q.open():
		case q.op.Done:
			return i, nil
		default:
			under = q
		}
	}
	return -1, under
}

func errNoRequest() error {
	return fmt.Errorf("%w: wait without a request: expected one that is in progress", drivers.ErrConfig)
}

// Waitall makes progress until all requests are done. It returns the first error.
func (r *Rank) Waitall(list []*Request) (err error) {
	already := r.engine.BeginWait()
	defer func() { err = firstError(err, r.engine.EndWait(already)) }()
	for _, q := range list {
		if !q.open() {
			continue
		}
		if _, e := r.Wait(q); err == nil {
			err = e
		}
	}
	return err
}

// any waits until one of the requests is done and returns its index.
func (r *Rank) any(list []*Request) (at int, err error) {
	r.enter()
	already := r.engine.BeginWait()
	defer func() { err = firstError(err, r.engine.EndWait(already)) }()
	for {
		at, under := survey(list)
		if at >= 0 {
			r.engine.Waiting = nil
			return at, nil
		}
		if under == nil {
			return -1, errNoRequest()
		}
		r.engine.Waiting = &under.op
		if _, err := r.engine.Step(); err != nil {
			return -1, err
		}
	}
}

// Waitany makes progress until one of the requests is done and returns its index. A list without
// open requests is an error.
func (r *Rank) Waitany(list []*Request) (int, Status, error) {
	at, err := r.any(list)
	if err != nil {
		return -1, Status{}, err
	}
	st, err := list[at].report()
	return at, st, err
}

// Waitsome makes progress until one of the requests is done and appends all completed requests to
// some. It returns the first error.
func (r *Rank) Waitsome(list []*Request, some []Completion) ([]Completion, error) {
	if _, err := r.any(list); err != nil {
		return some, err
	}
	return reportDone(list, some)
}

// reportDone appends all completed requests to some.
func reportDone(list []*Request, some []Completion) (_ []Completion, err error) {
	for i, q := range list {
		if !q.open() || !q.op.Done {
			continue
		}
		st, e := q.report()
		if err == nil {
			err = e
		}
		some = append(some, Completion{i, st, e})
	}
	return some, err
}

// Testany makes progress once, unless one of the requests is done already. It returns the index of
// a completed request, or -1. A list without open requests is an error.
func (r *Rank) Testany(list []*Request) (int, Status, error) {
	at, under := survey(list)
	if at < 0 {
		if under == nil {
			return -1, Status{}, errNoRequest()
		}
		if err := r.poll(); err != nil {
			return -1, Status{}, err
		}
		if at, _ = survey(list); at < 0 {
			return -1, Status{}, nil
		}
	}
	st, err := list[at].report()
	return at, st, err
}

// Testsome makes progress once and appends all completed requests to some. It returns the first
// error.
func (r *Rank) Testsome(list []*Request, some []Completion) ([]Completion, error) {
	if err := r.poll(); err != nil {
		return some, err
	}
	return reportDone(list, some)
}

// Testall makes progress once, unless all requests are done already, and reports whether all are
// done. Only then it reports their completion and returns the first error.
func (r *Rank) Testall(list []*Request) (bool, error) {
	if !allDone(list) {
		if err := r.poll(); err != nil {
			return false, err
		}
		if !allDone(list) {
			return false, nil
		}
	}
	return true, r.Waitall(list)
}

func allDone(list []*Request) bool {
	for _, q := range list {
		if q.open() && !q.op.Done {
			return false
		}
	}
	return true
}

// firstError returns a, or b if a is nil.
func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
