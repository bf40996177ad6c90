package host

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// waits lists the calls that report completed requests: each returns the indexes of some.
var waits = map[string]func(r *Rank, list []*Request) ([]Completion, error){
	"waitany": func(r *Rank, list []*Request) ([]Completion, error) {
		i, st, err := r.Waitany(list)
		return []Completion{{i, st, err}}, err
	},
	"testany": func(r *Rank, list []*Request) ([]Completion, error) {
		i, st, err := r.Testany(list)
		if i < 0 {
			return nil, err
		}
		return []Completion{{i, st, err}}, err
	},
	"waitsome": func(r *Rank, list []*Request) ([]Completion, error) {
		some, err := r.Waitsome(list, nil)
		if err == nil && len(some) == 0 {
			err = errors.New("none of some")
		}
		return some, err
	},
	"testsome": func(r *Rank, list []*Request) ([]Completion, error) { return r.Testsome(list, nil) },
	"testall": func(r *Rank, list []*Request) (all []Completion, err error) {
		ok, err := r.Testall(list)
		if !ok || err != nil {
			return nil, err
		}
		for i, q := range list {
			if q != nil {
				st, _ := q.outcome()
				all = append(all, Completion{i, st, nil})
			}
		}
		return all, nil
	},
}

// Every call reports each request once, with its status; for short, long and local messages.
func TestEndsOfSeveral(t *testing.T) {
	for name, wait := range waits {
		for _, p := range []plan{{nodes: 2, procs: 1}, inPairs(RGET), onNode()} {
			launch(t, p, func(r *Rank) error {
				longest := EagerMax
				if p.heap > 0 {
					longest = 6000
				}
				rnd := rand.New(rand.NewSource(7))
				var list []*Request
				var bufs [][]byte
				for k := range 25 {
					n := rnd.Intn(longest)
					b := letter(n, k)
					var q *Request
					var err error
					if r.ID() == 0 {
						q, err = r.Isend(1, k, b)
					} else {
						clear(b)
						q, err = r.Irecv(AnySource, k, b)
					}
					if err != nil {
						return err
					}
					list, bufs = append(list, q), append(bufs, b)
				}
				for told := 0; told < 25; {
					some, err := wait(r, list)
					if err != nil {
						return err
					}
					for _, x := range some {
						if list[x.Index] == nil || !list[x.Index].Done() {
							return fmt.Errorf("%s: request %d is reported twice or too early", name, x.Index)
						}
						list[x.Index] = nil
						told++
						if r.ID() == 1 {
							if x.Status != (Status{0, x.Index, len(bufs[x.Index])}) {
								return fmt.Errorf("%s: %+v", name, x)
							}
							if err := expect(bufs[x.Index], x.Index); err != nil {
								return err
							}
						}
					}
				}
				_, _, err := r.Waitany(list)
				_, some := r.Waitsome(list, nil)
				_, _, test := r.Testany(list)
				for _, err := range []error{err, some, test} {
					if !errors.Is(err, drivers.ErrConfig) {
						return fmt.Errorf("%v, expected that there is nothing to wait for", err)
					}
				}
				ok, err := r.Testall(list)
				if !ok {
					return fmt.Errorf("an empty list has an open request (%v)", err)
				}
				return errors.Join(err, r.Waitall(list))
			})
		}
	}
}

// Testall reports no completion before all requests are done, and the error of a failed one.
func TestTestall(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		if r.ID() == 0 {
			return errors.Join(r.Send(1, 0, []byte("first")), r.Barrier(), r.Send(1, 1, []byte("too long")))
		}
		a, err := r.RecvInit(0, 0, make([]byte, 5))
		if err != nil {
			return err
		}
		b, err := r.Irecv(0, 1, make([]byte, 3))
		if err != nil {
			return err
		}
		list := []*Request{a, nil, b}
		if err := r.Start(a); err != nil {
			return err
		}
		for !a.Done() {
			if ok, err := r.Testall(list); ok || err != nil {
				return fmt.Errorf("done too early: %v", err)
			}
		}
		if ok, err := r.Testall(list); ok || err != nil || a.idle {
			return fmt.Errorf("one completion is reported before all are done: %v", err)
		}
		if err := r.Barrier(); err != nil {
			return err
		}
		for {
			if ok, err := r.Testall(list); ok {
				if !errors.Is(err, ErrTruncated) || !a.idle {
					return fmt.Errorf("%v, expected that one is truncated", err)
				}
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

// Persistent requests of all kinds and lengths, started repeatedly.
func TestPersistent(t *testing.T) {
	for _, p := range []plan{inPairs(RGET), inPairs(RPUT), inPairs(Chunked), onNode()} {
		launch(t, p, func(r *Rank) error {
			sizes := []int{0, 10, 2048, 7000}
			peer := 1 - r.ID()
			var list []*Request
			var out, in [][]byte
			for k, n := range sizes {
				a, b := make([]byte, n), make([]byte, n)
				send := r.SendInit
				if k%2 == 1 {
					send = r.SsendInit
				}
				q, err := send(peer, k, a)
				if err != nil {
					return err
				}
				w, err := r.RecvInit(AnySource, k, b)
				if err != nil {
					return err
				}
				list, out, in = append(list, q, w), append(out, a), append(in, b)
			}
			if st, err := r.Wait(list[0]); st != (Status{}) || err != nil {
				return fmt.Errorf("%+v, %v of one that was not started", st, err)
			}
			for round := range 6 {
				for k := range sizes {
					copy(out[k], letter(len(out[k]), round*10+k+r.ID()))
				}
				if err := r.Startall(list); err != nil {
					return err
				}
				if err := r.Start(list[1]); !errors.Is(err, drivers.ErrConfig) {
					return fmt.Errorf("%v, expected that it is under way", err)
				}
				for left := len(list); left > 0; left-- {
					i, st, err := r.Waitany(list)
					if err != nil || i%2 == 1 && st != (Status{peer, i / 2, sizes[i/2]}) {
						return fmt.Errorf("request %d: %+v, %v", i, st, err)
					}
				}
				for k := range sizes {
					if err := expect(in[k], round*10+k+peer); err != nil {
						return fmt.Errorf("round %d: %w", round, err)
					}
				}
				if _, _, err := r.Waitany(list); !errors.Is(err, drivers.ErrConfig) {
					return fmt.Errorf("%v, expected that all are idle", err)
				}
			}
			return noneLeft(r)
		})
	}
}

func TestWrongPersistent(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		_, to := r.SendInit(2, 0, nil)
		_, tag := r.SendInit(0, -1, nil)
		_, from := r.RecvInit(-2, 0, nil)
		q, err := r.Irecv(1-r.ID(), 0, nil)
		if err != nil {
			return err
		}
		for i, err := range []error{to, tag, from, r.Start(q), r.Startall([]*Request{q})} {
			if !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("call %d: %v", i, err)
			}
		}
		if _, err := r.SsendInit(1-r.ID(), 0, nil); !errors.Is(err, drivers.ErrNotSupported) {
			return fmt.Errorf("%v, expected that it is not supported", err)
		}
		if err := r.Cancel(q); err != nil {
			return err
		}
		w, err := r.RecvInit(1-r.ID(), 0, nil)
		if err != nil {
			return err
		}
		for range 3 {
			err := errors.Join(r.Start(w), r.Cancel(w))
			if _, end := r.Wait(w); err != nil || !errors.Is(end, ErrCancelled) {
				return fmt.Errorf("%v, %v", err, end)
			}
		}
		return nil
	})
}

// Restarting a persistent request allocates nothing.
func TestPersistentAllocateNothing(t *testing.T) {
	launch(t, plan{nodes: 1, procs: 1}, func(r *Rank) error {
		out, err := r.SendInit(0, 0, make([]byte, 100))
		if err != nil {
			return err
		}
		in, err := r.RecvInit(0, 0, make([]byte, 100))
		if err != nil {
			return err
		}
		list, some := []*Request{in, out}, make([]Completion, 0, 2)
		once := func() {
			if err = r.Startall(list); err == nil {
				some, err = r.Waitsome(list, some[:0])
			}
			if err == nil && len(some) != 2 {
				err = fmt.Errorf("%d are done, expected both", len(some))
			}
		}
		once()
		require.Zero(t, testing.AllocsPerRun(100, once))
		return err
	})
}
