package explore

import (
	"context"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// A Result is the outcome of an exploration.
type Result struct {
	States, Ends int
	Violation    error    // nil: proved
	Path         []string // shortest path to the violation
}

// Run explores a world exhaustively. It ends with the error of ctx when that ends.
func Run(ctx context.Context, o Options) (res Result, err error) {
	if o.Entries < 1 || o.Entries > reuseMax || len(o.Receives) != len(o.Messages) {
		return res, fmt.Errorf("explore: %d entries, %d messages and %d receives: expected 1 to %d entries and a receive for each message", o.Entries, len(o.Messages), len(o.Receives), reuseMax)
	}
	x, err := modelcheck.RunWorld(ctx, modelcheck.WorldOptions{
		Options: modelcheck.Options{Liveness: modelcheck.EndReachable},
	}, newWorld(&o))
	res = Result{States: x.Len(), Ends: x.Outcome.Ends}
	if bad := x.Outcome.Violation; bad != nil {
		res.Violation = bad.Err
		for _, e := range x.Counterexample() {
			res.Path = append(res.Path, e.name)
		}
	}
	return res, err
}

// reuseMax keeps worlds small.
const reuseMax = 4

// AppendState encodes the complete state.
func (w *world) AppendState(b []byte) []byte {
	c := *w
	c.o = nil
	return fmt.Appendf(b, "%+v", c)
}

// Apply executes an event.
func (w *world) Apply(e event) error { return e.do(w) }

// CloneFor copies w deeply enough that an event on the copy does not change w.
func (w *world) CloneFor(event) *world {
	n := *w
	n.rec = w.rec.Clone()
	for _, s := range []*[]int{&n.values, &n.ring, &n.waiting, &n.matchedBy, &n.fetches, &n.matched} {
		*s = append([]int(nil), *s...)
	}
	for _, s := range []*[]bool{&n.done, &n.whole} {
		*s = append([]bool(nil), *s...)
	}
	n.headers, n.arrived = append([]header(nil), w.headers...), append([]header(nil), w.arrived...)
	n.puts, n.frees = append([]put(nil), w.puts...), append([]uint64(nil), w.frees...)
	return &n
}

// Suite returns the worlds to prove.
func Suite() (list []Options) {
	for _, x := range []struct{ messages, receives []int }{
		{[]int{0, 0, 0}, []int{0, 0, 0}},
		{[]int{0, 1, 0}, []int{1, 0, 0}},
		{[]int{0, 1, 2}, []int{2, 1, 0}},
		{[]int{0, 0, 1}, []int{1, 0, 0}},
		{[]int{0, 1, 0}, []int{Any, Any, 0}},
		{[]int{0, 1, 0, 1}, []int{1, Any, 0, Any}},
		{[]int{0, 0, 0, 0, 0}, []int{0, 0, 0, 0, 0}},
	} {
		for _, entries := range []int{1, 2, 3} {
			for _, direct := range []bool{false, true} {
				for _, long := range []bool{false, true} {
					o := Options{Entries: entries, Messages: x.messages, Receives: x.receives, Direct: direct, Long: long}
					list = append(list, o)
					if o.Blocking = true; len(o.Messages) <= 3 {
						list = append(list, o)
					}
				}
			}
		}
	}
	return list
}

// Planted returns a world for each mistake.
func Planted() (list []Options) {
	for _, p := range Plants() {
		o := Options{Entries: 2, Messages: []int{0, 1, 0}, Receives: []int{1, 0, 0}, Direct: true, Plant: p}
		switch p {
		case "match-by-bytes": // behind one without an entry
			o.Entries, o.Messages, o.Receives = 1, []int{0, 0, 0}, []int{0, 0, 0}
		case "wait":
			o.Messages, o.Blocking = []int{0, 0, 1}, true
		}
		list = append(list, o)
	}
	return list
}

// String describes a world.
func (o Options) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries, messages %v, receives %v", o.Entries, o.Messages, o.Receives)
	for _, x := range []struct {
		on   bool
		what string
	}{{o.Direct, ", direct"}, {o.Blocking, ", one receive at a time"}, {o.Long, ", else by rendezvous"}, {o.Plant != "", ", mistake " + o.Plant}} {
		if x.on {
			b.WriteString(x.what)
		}
	}
	return b.String()
}
