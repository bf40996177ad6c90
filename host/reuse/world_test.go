package reuse

import (
	"errors"
	"fmt"
	"strings"
)

// A world surrounds a table with memory whose pages can be remapped and hardware that reads through
// registrations. It checks the guarantees of doc.go at every step.
type world struct {
	table   *Table[region]
	config  Config
	version map[uint64]int // version of the contents at an address
	uses    map[uint64]int // since the last registration or move
	alive   map[int]bool   // registrations not yet released
	next    int
	reads   []read // in flight
	refuse  bool   // the next registration fails
	plant   string // a deliberate mistake
}

type region struct {
	id      int
	at      uint64
	bytes   int
	version int
}

type read struct {
	ref Ref
	region
}

var errUnsafe = errors.New("unsafe")

func newWorld(c Config, plant string) *world {
	t, err := New[region](c)
	if err != nil {
		panic(err)
	}
	return &world{table: t, config: t.Config, version: map[uint64]int{}, uses: map[uint64]int{}, alive: map[int]bool{}, plant: plant}
}

// use sends n bytes. Reads without a copy stay in flight until finish.
func (w *world) use(at uint64, n int) (Verdict, error) {
	w.version[at] += 0 // creates the entry
	before := w.table.Len()
	stopped := w.table.Stats().Stopped
	u := w.table.Use(at, n)
	if w.table.Stats().Stopped > stopped && w.table.Len() > before {
		return 0, fmt.Errorf("%w: it grew although it was stopped", errUnsafe)
	}
	w.uses[at]++
	v, r := u.Verdict, u.Region
	if v == Register {
		if w.refuse {
			w.refuse = false
			w.table.Refused(u.Ref)
			return Copy, w.check()
		}
		if want := w.config.Threshold(n); w.uses[at] < want {
			return 0, fmt.Errorf("%w: registered at use %d, expected %d", errUnsafe, w.uses[at], want)
		}
		w.next++
		r = region{w.next, at, n, w.version[at]}
		w.alive[r.id] = true
		if v = w.table.Registered(u.Ref, n, r); v != Direct {
			return 0, fmt.Errorf("%w: a buffer that was registered is not used", errUnsafe)
		}
	}
	if v == Direct {
		if w.plant != "no-hold" {
			w.table.Hold(u.Ref)
		}
		w.reads = append(w.reads, read{u.Ref, r})
		if r.at != at || r.bytes < n || r.version != w.version[at] {
			return 0, fmt.Errorf("%w: %d bytes at %d, version %d, go through %+v", errUnsafe, n, at, w.version[at], r)
		}
	}
	return v, w.check()
}

// finish completes the oldest read.
func (w *world) finish() error {
	if len(w.reads) == 0 {
		return nil
	}
	r := w.reads[0]
	if !w.alive[r.id] {
		return fmt.Errorf("%w: registration %d was given back while it was read", errUnsafe, r.id)
	}
	w.reads = w.reads[1:]
	if w.plant != "no-hold" {
		w.table.Drop(r.ref)
	}
	return w.check()
}

// move remaps an address.
func (w *world) move(at uint64, n int) error {
	for a := range w.version {
		if a >= at && a < at+uint64(n) {
			w.version[a]++
			w.uses[a] = 0
		}
	}
	if w.plant == "" || w.plant == "no-hold" {
		w.table.Invalidate(at, uint64(n))
	}
	return w.check()
}

func (w *world) check() error {
	for {
		r, ok := w.table.Released()
		if !ok {
			break
		}
		if !w.alive[r.id] {
			return fmt.Errorf("%w: registration %d is given back twice", errUnsafe, r.id)
		}
		delete(w.alive, r.id)
	}
	for _, r := range w.reads {
		if !w.alive[r.id] {
			return fmt.Errorf("%w: registration %d was given back while it is read", errUnsafe, r.id)
		}
	}
	t := w.table
	switch {
	case len(w.alive) != t.InUse():
		return fmt.Errorf("%w: %d registrations, the table says %d", errUnsafe, len(w.alive), t.InUse())
	case t.InUse() > w.config.Registered || t.Len() > w.config.Buffers || t.Known() > t.Len():
		return fmt.Errorf("%w: %d buffers, %d registered, %d registrations: more than it may have", errUnsafe, t.Len(), t.Known(), t.InUse())
	}
	return t.consistent()
}

// consistent recomputes all counters of the table and compares them.
func (t *Table[R]) consistent() error {
	live, chained := 0, 0
	for _, b := range t.buckets {
		for i, n := b, 0; i != nothing; i, n = t.entries[i].next, n+1 {
			live++
			if n > 0 {
				chained++
			}
			if s := t.entries[i].state; s != counted && s != registered {
				return fmt.Errorf("%w: entry %d in a bucket has state %d", errUnsafe, i, s)
			}
		}
	}
	free, goners, known := 0, 0, 0
	for i := t.free; i != nothing; i = t.entries[i].next {
		free++
	}
	for i := t.oldest; i != nothing; i = t.entries[i].newer {
		known++
	}
	for i := range t.entries {
		if t.entries[i].state == gone {
			goners++
		}
	}
	if live != t.live || chained != t.chained || known != t.known || free+goners+live != len(t.entries) {
		return fmt.Errorf("%w: %d live (says %d), %d chained (%d), %d registered (%d), %d free, %d gone of %d",
			errUnsafe, live, t.live, chained, t.chained, known, t.known, free, goners, len(t.entries))
	}
	return nil
}

// exec runs one command of a script:
//
//	new buckets=2 buffers=4 registered=1 at=2 share=20 chained=10 [endless]
//	use AT BYTES [TIMES]     refuse     finish     move AT BYTES     show
func (w *world) exec(line string) (string, *world) {
	f := strings.Fields(line)
	var a, b, times int
	times = 1
	if len(f) > 1 && f[0] != "new" {
		fmt.Sscan(strings.Join(f[1:], " "), &a, &b, &times)
	}
	switch f[0] {
	case "new":
		c := Config{}
		uses := 1
		for _, kv := range f[1:] {
			key, v, _ := strings.Cut(kv, "=")
			n := 0
			fmt.Sscan(v, &n)
			switch key {
			case "buckets":
				c.Buckets = n
			case "buffers":
				c.Buffers = n
			case "registered":
				c.Registered = n
			case "at":
				uses = n
			case "share":
				c.Share = n
			case "chained":
				c.Chained = n
			case "endless":
				c.Endless = true
			}
		}
		c.Threshold = func(int) int { return uses }
		return "", newWorld(c, "")
	case "refuse":
		w.refuse = true
		return "", w
	case "use":
		var said []string
		for range times {
			v, err := w.use(uint64(a), b)
			if err != nil {
				return err.Error() + "\n", w
			}
			said = append(said, v.String())
		}
		return strings.Join(said, " ") + "\n", w
	case "finish":
		if err := w.finish(); err != nil {
			return err.Error() + "\n", w
		}
		return "", w
	case "move":
		if err := w.move(uint64(a), b); err != nil {
			return err.Error() + "\n", w
		}
		return "", w
	case "show":
		s := w.table.Stats()
		return fmt.Sprintf("%d buffers, %d registered, %d registrations, %d read; %d of %d uses direct, %d evicted, %d stopped\n",
			w.table.Len(), w.table.Known(), w.table.InUse(), len(w.reads), s.Direct, s.Uses, s.Evicted, s.Stopped), w
	}
	return fmt.Sprintf("no command %q\n", f[0]), w
}
