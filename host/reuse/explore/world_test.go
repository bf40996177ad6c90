package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/reuse"
)

// Options describe a world: rank 0 sends to rank 1.
type Options struct {
	Entries  int   // of the ring
	Messages []int // tags, in the order of sending
	Direct   bool  // send from the buffer itself: complete when the bytes have left; otherwise when they are copied
	Long     bool  // without an entry, use a rendezvous; otherwise send the bytes with the header
	Receives []int // tags, in the order of posting; Any: wildcard
	Blocking bool  // post a receive only after the previous one has completed
	Plant    string
}

// Any is the wildcard tag of a receive.
const Any = -1

// Plants lists the deliberate mistakes.
func Plants() []string {
	return []string{"done-at-once", "no-credits", "free-on-match", "match-by-bytes", "deaf-to-bytes", "kept", "free-twice", "wait"}
}

// ErrUnsafe is the cause of every violation.
var ErrUnsafe = errors.New("ring violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// route is the path of a message.
type route uint8

const (
	eager route = iota
	byRing
	rendezvous
)

// header is the information about a message that reaches rank 1 in order.
type header struct {
	message int
	route
	entry int
	value int // of eager messages
}

// put is an RMA put on its way to an entry. value is read from the buffer when the put leaves.
type put struct {
	message, entry, value int
	left                  bool
}

type world struct {
	o         *Options
	sender    reuse.Sender
	rec       reuse.Receiver[int]
	values    []int // contents of each message's buffer: its number until the send has completed, then -1
	done      []bool
	sent      int
	posted    int
	headers   []header
	puts      []put
	frees     []uint64 // entries being returned to the sender
	ring      []int    // contents of each entry; -1: none needed
	waiting   []int    // unmatched receives
	arrived   []header // unmatched messages, in order
	matchedBy []int    // by receive: the message that it matched, or -1
	whole     []bool   // by receive: its bytes have arrived
	fetches   []int    // receives whose rendezvous is fetching bytes
	matched   []int    // messages, in the order of matching
}

func newWorld(o *Options) *world {
	n := len(o.Messages)
	w := &world{o: o, values: make([]int, n), done: make([]bool, n), ring: make([]int, o.Entries), matchedBy: make([]int, len(o.Receives)), whole: make([]bool, len(o.Receives))}
	for i := range w.values {
		w.values[i] = i
	}
	for i := range w.ring {
		w.ring[i] = -1
	}
	for i := range w.matchedBy {
		w.matchedBy[i] = -1
	}
	w.sender.Ask()
	_ = w.sender.Grant(0, o.Entries) // the request is not modelled
	w.rec.Open(0, o.Entries)
	return w
}

// event is a possible step.
type event struct {
	name string
	do   func(*world) error
}

// Enabled lists the possible events.
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

// full reports whether no entry is free.
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

// end completes a send towards the application, which changes the buffer at once.
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
	if w.o.Plant == "match-by-bytes" && !complete { // without waiting for its header
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

// match checks MPI's rule: no earlier unmatched message would have matched.
func (w *world) match(r int, h header) error {
	for k := range h.message {
		if w.fits(r, k) && !slices.Contains(w.matched, k) {
			return violation("receive %d gets message %d before message %d", r, h.message, k)
		}
	}
	w.matchedBy[r] = h.message
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

// read copies a message out of its entry if a receive has matched it.
func (w *world) read(i, entry int) error {
	r := slices.Index(w.matchedBy, i)
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
	i := w.matchedBy[r]
	err := w.deliver(r, w.values[i])
	w.end(i)
	return err
}

func (w *world) deliver(r, value int) error {
	if value != w.matchedBy[r] {
		return violation("receive %d of message %d has the bytes of %d", r, w.matchedBy[r], value)
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

// Finished checks a final state.
func (w *world) Finished() error {
	if w.sent < len(w.o.Messages) {
		return violation("message %d is never delivered", w.sent)
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
