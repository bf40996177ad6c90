package explore

import (
	"fmt"
	"strings"
)

// A Result is what an exploration has found.
type Result struct {
	States, Ends int
	Violation    error    // nil: proved
	Path         []string // to it, the shortest
}

type visit struct {
	world *world
	from  int
	event string
}

// Run explores a world. States are told apart by all that they are.
func Run(o Options) (Result, error) {
	if o.Entries < 1 || o.Entries > reuseMax || len(o.Receives) != len(o.Messages) {
		return Result{}, fmt.Errorf("explore: %d entries, %d messages and %d receives: expected 1 to %d entries and a receive for each message", o.Entries, len(o.Messages), len(o.Receives), reuseMax)
	}
	var res Result
	list := []visit{{newWorld(&o), -1, ""}}
	seen := map[string]bool{list[0].world.key(): true}
	fail := func(at int, last string, err error) Result {
		res.Violation, res.Path = err, []string{last}
		for ; at > 0; at = list[at].from {
			res.Path = append([]string{list[at].event}, res.Path...)
		}
		return res
	}
	for at := 0; at < len(list); at++ {
		here := list[at].world
		res.States++
		events := here.enabled()
		for _, e := range events {
			next := here.clone()
			if err := e.do(next); err != nil {
				return fail(at, e.name, err), nil
			}
			if k := next.key(); !seen[k] {
				seen[k] = true
				list = append(list, visit{next, at, e.name})
			}
		}
		if len(events) == 0 {
			res.Ends++
			if err := here.clone().finished(); err != nil {
				return fail(at, "nothing more", err), nil
			}
		}
		list[at].world = nil
	}
	return res, nil
}

// reuseMax keeps worlds small.
const reuseMax = 4

// key is a state, with nothing left out.
func (w *world) key() string {
	c := *w
	c.o = nil
	return fmt.Sprintf("%+v", c)
}

func (w *world) clone() *world {
	n := *w
	n.rec = w.rec.Clone()
	for _, s := range []*[]int{&n.values, &n.ring, &n.waiting, &n.got, &n.fetches, &n.matched} {
		*s = append([]int(nil), *s...)
	}
	for _, s := range []*[]bool{&n.done, &n.whole} {
		*s = append([]bool(nil), *s...)
	}
	n.headers, n.arrived = append([]header(nil), w.headers...), append([]header(nil), w.arrived...)
	n.puts, n.frees = append([]put(nil), w.puts...), append([]uint64(nil), w.frees...)
	return &n
}

// Suite are the worlds that are proved.
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

// Planted is a world for each mistake.
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

// String says what a world is.
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
