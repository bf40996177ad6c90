package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Waiting for several requests. In all lists, requests that are nil and persistent ones that are
// idle are passed over.

// A Completion is the end of one request of a list.
type Completion struct {
	Index int
	Status
	Err error
}

// open tells whether the end of a request is still to be told.
func (q *Request) open() bool { return q != nil && !q.idle }

// survey gives the first request of a list whose end can be told, and one that is under way.
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
	return fmt.Errorf("%w: no request: expected one that a call has begun", drivers.ErrConfig)
}

// Waitall makes progress until every request is done; it gives the first error.
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

// any waits until one of the requests is done and gives its index.
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

// Waitany makes progress until one of the requests is done and gives its index. With nothing to
// wait for it is an error.
func (r *Rank) Waitany(list []*Request) (int, Status, error) {
	at, err := r.any(list)
	if err != nil {
		return -1, Status{}, err
	}
	st, err := list[at].report()
	return at, st, err
}

// Waitsome makes progress until one of the requests is done and appends all that are to some. It
// gives the first error.
func (r *Rank) Waitsome(list []*Request, some []Completion) ([]Completion, error) {
	if _, err := r.any(list); err != nil {
		return some, err
	}
	return tell(list, some)
}

// tell appends the ends of all requests that are done.
func tell(list []*Request, some []Completion) (_ []Completion, err error) {
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

// Testany makes progress once, unless one of the requests is done already, and gives its index, or
// -1 if none is. With nothing to wait for it is an error.
func (r *Rank) Testany(list []*Request) (int, Status, error) {
	at, under := survey(list)
	if at < 0 {
		if under == nil {
			return -1, Status{}, errNoRequest()
		}
		if err := r.look(); err != nil {
			return -1, Status{}, err
		}
		if at, _ = survey(list); at < 0 {
			return -1, Status{}, nil
		}
	}
	st, err := list[at].report()
	return at, st, err
}

// Testsome makes progress once and appends all requests that are done to some. It gives the first
// error.
func (r *Rank) Testsome(list []*Request, some []Completion) ([]Completion, error) {
	if err := r.look(); err != nil {
		return some, err
	}
	return tell(list, some)
}

// Testall makes progress once, unless all requests are done already, and tells whether they are;
// until then it tells the end of none. Then it gives the first error.
func (r *Rank) Testall(list []*Request) (bool, error) {
	if !allDone(list) {
		if err := r.look(); err != nil {
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

// firstError is the first error of two.
func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
