package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/reuse"
)

// Options are a world: rank 0 sends, rank 1 receives.
type Options struct {
	Entries  int   // of the ring
	Messages []int // their tags, in the order in which they are sent
	Direct   bool  // by the ring from the buffer itself: the send is done when the bytes have left; else when they are copied
	Long     bool  // what finds no entry goes by a rendezvous, else with its header
	Receives []int // tags, in the order in which they are posted; Any: any
	Blocking bool  // a receive is posted when the one before it has ended
	Plant    string
}

// Any leaves the tag of a receive open.
const Any = -1

// Plants are the mistakes that can be made.
func Plants() []string {
	return []string{"done-at-once", "no-credits", "free-on-match", "match-by-bytes", "deaf-to-bytes", "kept", "free-twice", "wait"}
}

// ErrUnsafe is the cause of every violation.
var ErrUnsafe = errors.New("ring violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// route is how a message travels.
type route uint8

const (
	eager route = iota
	byRing
	rendezvous
)

// header is what rank 1 hears of a message, in order.
type header struct {
	message int
	route
	entry int
	value int // of eager ones
}

// put is bytes on their way to an entry: value is read from the buffer when they leave.
type put struct {
	message, entry, value int
	left                  bool
}

type world struct {
	o       *Options
	sender  reuse.Sender
	rec     reuse.Receiver[int]
	values  []int // in the buffer of each message: its number while it may not change, then -1
	done    []bool
	sent    int
	posted  int
	headers []header
	puts    []put
	frees   []uint64 // on their way back
	ring    []int    // what lies in each entry; -1: nothing of use
	waiting []int    // receives that nothing has matched
	arrived []header // messages that nothing has matched, in order
	got     []int    // by receive: the message it matched, or -1
	whole   []bool   // it has its bytes
	fetches []int    // receives whose rendezvous fetches bytes
	matched []int    // messages, in the order of matching
}

func newWorld(o *Options) *world {
	n := len(o.Messages)
	w := &world{o: o, values: make([]int, n), done: make([]bool, n), ring: make([]int, o.Entries), got: make([]int, len(o.Receives)), whole: make([]bool, len(o.Receives))}
	for i := range w.values {
		w.values[i] = i
	}
	for i := range w.ring {
		w.ring[i] = -1
	}
	for i := range w.got {
		w.got[i] = -1
	}
	w.sender.Ask()
	_ = w.sender.Grant(0, o.Entries) // it has asked
	w.rec.Open(0, o.Entries)
	return w
}

// event is something that can happen.
type event struct {
	name string
	do   func(*world) error
}

// Enabled lists what can happen.
func (w *world) Enabled() (list []event) {
	add := func(can bool, name string, do func(*world) error) {
		if can {
			list = append(list, event{name, do})
		}
	}
	waits := w.o.Plant == "wait" && w.full()
	add(w.sent < len(w.o.Messages) && !waits, "send", (*world).send)
	add(w.posted < len(w.o.Receives) && (!w.o.Blocking || w.posted == 0 || w.whole[w.posted-1]), "post", (*world).post)
	add(len(w.headers) > 0, "header", (*world).hear)
	add(slices.ContainsFunc(w.puts, func(p put) bool { return !p.left }), "leave", (*world).leave)
	add(len(w.puts) > 0 && w.puts[0].left, "land", (*world).land)
	add(len(w.fetches) > 0, "fetch", (*world).fetch)
	add(len(w.frees) > 0, "free", (*world).free)
	return list
}

// full: no entry is free.
func (w *world) full() bool {
	i, ok := w.sender.Take()
	if ok {
		w.sender.Cancel(i)
	}
	return !ok
}

func (w *world) send() error {
	i := w.sent
	w.sent++
	h := header{message: i}
	entry, ok := w.sender.Take()
	if !ok && w.o.Plant == "no-credits" {
		entry, ok = 0, true
	}
	switch {
	case ok:
		h.route, h.entry = byRing, entry
		p := put{message: i, entry: entry}
		if !w.o.Direct || w.o.Plant == "done-at-once" {
			p.value = w.values[i]
			w.end(i)
		}
		if w.o.Direct {
			p.value = -1 // read when it leaves
		}
		w.puts = append(w.puts, p)
	case w.o.Long:
		h.route = rendezvous
	default:
		h.value = w.values[i]
		w.end(i)
	}
	w.headers = append(w.headers, h)
	return nil
}

// end tells the application that a send is done; it changes the buffer at once.
func (w *world) end(i int) { w.done[i], w.values[i] = true, -1 }

func (w *world) leave() error {
	p := &w.puts[slices.IndexFunc(w.puts, func(p put) bool { return !p.left })]
	p.left = true
	if w.o.Direct {
		p.value = w.values[p.message]
		w.end(p.message)
	}
	return nil
}

func (w *world) land() error {
	p := w.puts[0]
	w.puts = w.puts[1:]
	if w.ring[p.entry] >= 0 {
		return violation("message %d lands in entry %d, which holds message %d", p.message, p.entry, w.ring[p.entry])
	}
	w.ring[p.entry] = p.message
	if p.value != p.message {
		return violation("message %d was sent with bytes that were changed", p.message)
	}
	i, complete, err := w.rec.Bytes(p.entry)
	if err != nil {
		return violation("%v", err)
	}
	if w.o.Plant == "match-by-bytes" && !complete { // not waiting for its header
		if k := slices.IndexFunc(w.headers, func(h header) bool { return h.message == p.message }); k >= 0 {
			h := w.headers[k]
			w.headers = slices.Delete(w.headers, k, k+1)
			return w.take(h)
		}
	}
	if complete {
		return w.read(i, p.entry)
	}
	return nil
}

func (w *world) hear() error {
	h := w.headers[0]
	w.headers = w.headers[1:]
	return w.take(h)
}

func (w *world) take(h header) error {
	if h.route == byRing {
		if _, err := w.rec.Header(h.entry, h.message); err != nil {
			return violation("%v", err)
		}
	}
	for k, r := range w.waiting {
		if w.fits(r, h.message) {
			w.waiting = slices.Delete(w.waiting, k, k+1)
			return w.match(r, h)
		}
	}
	w.arrived = append(w.arrived, h)
	return nil
}

func (w *world) fits(r, message int) bool {
	return w.o.Receives[r] == Any || w.o.Receives[r] == w.o.Messages[message]
}

func (w *world) post() error {
	r := w.posted
	w.posted++
	for k, h := range w.arrived {
		if w.fits(r, h.message) {
			w.arrived = slices.Delete(w.arrived, k, k+1)
			return w.match(r, h)
		}
	}
	w.waiting = append(w.waiting, r)
	return nil
}

// match: MPI's rule is that no earlier message would have fit.
func (w *world) match(r int, h header) error {
	for k := range h.message {
		if w.fits(r, k) && !slices.Contains(w.matched, k) {
			return violation("receive %d gets message %d before message %d", r, h.message, k)
		}
	}
	w.got[r] = h.message
	w.matched = append(w.matched, h.message)
	switch h.route {
	case eager:
		return w.deliver(r, h.value)
	case rendezvous:
		w.fetches = append(w.fetches, r)
		return nil
	}
	if w.o.Plant == "free-on-match" && w.rec.Whole(h.entry) {
		w.rec.Read(h.entry)
		w.ring[h.entry] = -1
		w.giveBack(true)
		return w.deliver(r, w.ring[h.entry])
	}
	if w.rec.Whole(h.entry) || w.o.Plant == "deaf-to-bytes" {
		return w.read(h.message, h.entry)
	}
	return nil
}

// read copies a message out of its entry, if a receive has matched it.
func (w *world) read(i, entry int) error {
	r := slices.Index(w.got, i)
	if r < 0 {
		return nil
	}
	if err := w.deliver(r, w.ring[entry]); err != nil {
		return err
	}
	w.ring[entry] = -1
	w.rec.Read(entry)
	w.giveBack(false)
	return nil
}

func (w *world) giveBack(now bool) {
	if !now && !w.rec.Due() || w.o.Plant == "kept" {
		return
	}
	back := w.rec.Back()
	w.frees = append(w.frees, back)
	if w.o.Plant == "free-twice" {
		w.frees = append(w.frees, back)
	}
}

func (w *world) fetch() error {
	r := w.fetches[0]
	w.fetches = w.fetches[1:]
	i := w.got[r]
	err := w.deliver(r, w.values[i])
	w.end(i)
	return err
}

func (w *world) deliver(r, value int) error {
	if value != w.got[r] {
		return violation("receive %d of message %d has the bytes of %d", r, w.got[r], value)
	}
	w.whole[r] = true
	return nil
}

func (w *world) free() error {
	back := w.frees[0]
	w.frees = w.frees[1:]
	if err := w.sender.Free(back); err != nil {
		return violation("%v", err)
	}
	return nil
}

// Finished checks a world in which nothing can happen any more.
func (w *world) Finished() error {
	if w.sent < len(w.o.Messages) {
		return violation("message %d waits for ever", w.sent)
	}
	for r, whole := range w.whole {
		if !whole {
			return violation("receive %d never ends", r)
		}
	}
	for i, done := range w.done {
		if !done {
			return violation("the send of message %d never ends", i)
		}
	}
	if w.rec.Due() {
		return violation("half of the entries were read and not given back")
	}
	sender, rec := w.sender, w.rec.Clone()
	if back := rec.Back(); back != 0 {
		if err := sender.Free(back); err != nil {
			return violation("%v", err)
		}
	}
	if !sender.Home() {
		return violation("an entry is lost")
	}
	return nil
}
