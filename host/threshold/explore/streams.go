package explore

import (
	"slices"

	"github.com/nicloop/nicloop/host/threshold"
)

// A Receive is posted by a rank; -1: any source or tag.
type Receive struct{ At, From, Tag, Room int }

func (v Receive) fits(m Message) bool {
	return v.At == m.To && (v.From < 0 || v.From == m.From) && (v.Tag < 0 || v.Tag == m.Tag)
}

// parts is the number of fragments of a put.
const parts = 2

// streams is a world under the handshake NotReady.
type streams struct {
	o        *Options
	cores    []*threshold.Streams
	lines    [][]packet // [pair]: messages in flight
	tries    [][]try    // [pair]: attempts in flight
	sent     []int      // by rank: number of its messages that were sent
	posted   []int      // by rank: number of its receives that were posted
	lost     []bool
	messages []travel
	receives []wanted
	gates    []gate
	now      threshold.Time
	say      func(format string, args ...any)
}

// travel is the state of a message.
type travel struct {
	number  int // in its stream; -1: none
	inside  bool
	came    bool
	receive int // matching receive, or -1
	read    bool
}

// wanted is the state of a receive.
type wanted struct {
	posted, done, cancelled, revoked bool
	message                          int        // or -1
	offered                          int        // number of the message that it was readied for, or -1
	parts                            [parts]int // message in each part of its buffer, or -1
}

// A try is a put or a probe in flight: its fragments, then its response.
type try struct {
	stream  threshold.Stream
	message int
	probe   bool
	address uint64
	at      int
	refused bool
}

// A gate is the mapping of an address range, and the mapping that the hardware may still cache.
type gate struct {
	at     int // rank
	stream threshold.Stream
	index  int
	number uint16 // of the message of the last receive mapped
	open   int    // receive, or -1
	stale  int
}

func newStreams(o *Options) *streams {
	n := o.Ranks
	w := &streams{
		o: o, lines: make([][]packet, n*n), tries: make([][]try, n*n), sent: make([]int, n), posted: make([]int, n), lost: make([]bool, len(o.Losses)),
		say: func(string, ...any) {},
	}
	for i := range n {
		w.cores = append(w.cores, threshold.NewStreams(threshold.Config{Self: i, Ranks: n, Stocks: o.Stocks, Least: 1, Policy: threshold.Policy{Window: 1}, Retry: 1, Gates: max(o.Gates, 1)}))
	}
	for range o.Messages {
		w.messages = append(w.messages, travel{number: -1, receive: -1})
	}
	for range o.Receives {
		w.receives = append(w.receives, wanted{message: -1, offered: -1, parts: [parts]int{-1, -1}})
	}
	return w
}

func (w *streams) pair(from, to int) int { return from*w.o.Ranks + to }

func (w *streams) tellTo(say func(format string, args ...any)) { w.say = say }

// CloneFor copies a world between two events.
func (w *streams) CloneFor(event) world {
	n := *w
	n.cores = slices.Clone(w.cores)
	for i, c := range n.cores {
		n.cores[i] = c.Clone()
	}
	n.lines, n.tries = slices.Clone(w.lines), slices.Clone(w.tries)
	for i := range n.lines {
		n.lines[i], n.tries[i] = slices.Clone(w.lines[i]), slices.Clone(w.tries[i])
	}
	n.sent, n.posted, n.lost = slices.Clone(w.sent), slices.Clone(w.posted), slices.Clone(w.lost)
	n.messages, n.receives, n.gates = slices.Clone(w.messages), slices.Clone(w.receives), slices.Clone(w.gates)
	return &n
}

// nth is the index of the nth element for which at is true; -1: there are fewer.
func nth(n, count int, at func(int) bool) int {
	for i := range count {
		if !at(i) {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return -1
}

func (w *streams) nextSend(at int) int {
	return nth(w.sent[at], len(w.messages), func(i int) bool { return w.o.Messages[i].From == at })
}

func (w *streams) nextReceive(at int) int {
	return nth(w.posted[at], len(w.receives), func(i int) bool { return w.o.Receives[i].At == at })
}

func (w *streams) Enabled() (list []event) {
	n := w.o.Ranks
	for i := range n {
		if w.nextSend(i) >= 0 {
			list = append(list, event{act: "send", from: i})
		}
		if w.nextReceive(i) >= 0 {
			list = append(list, event{act: "post", from: i})
		}
		if at := w.cores[i].Deadline(); at > w.now && at < 1<<62 {
			list = append(list, event{act: "retry", from: i})
		}
	}
	for i, done := range w.lost {
		if !done {
			list = append(list, event{act: "lose", from: i})
		}
	}
	for _, i := range w.o.Cancels {
		if v := w.receives[i]; v.posted && !v.done && !v.revoked && v.message < 0 {
			list = append(list, event{act: "cancel", from: i})
		}
	}
	for from := range n {
		for to := range n {
			pair := w.pair(from, to)
			for k, p := range w.lines[pair] {
				if !slices.ContainsFunc(w.lines[pair][:k], func(q packet) bool { return !q.ordered || p.ordered }) {
					list = append(list, event{"deliver", from, to, k})
				}
			}
			for k, t := range w.tries[pair] {
				list = append(list, event{"land", from, to, k})
				if g := w.gateOf(to, from, t.stream, int(t.address)-1); g != nil && g.open < 0 && g.stale >= 0 && t.at < w.fragments(t) {
					list = append(list, event{"miss", from, to, k}) // the hardware may have dropped the mapping already
				}
			}
		}
	}
	for i, g := range w.gates {
		if g.stale >= 0 && g.open < 0 {
			list = append(list, event{act: "forget", from: i})
		}
	}
	return list
}

func (w *streams) fragments(t try) int {
	if t.probe {
		return 1
	}
	return parts
}

// gateOf returns a gate by its sender, receiver and stream; its address is its index plus 1.
func (w *streams) gateOf(to, from int, l threshold.Stream, index int) *gate {
	l.Peer = from
	for i := range w.gates {
		if w.gates[i].at == to && w.gates[i].stream == l && w.gates[i].index == index {
			return &w.gates[i]
		}
	}
	return nil
}

func (w *streams) Apply(e event) error {
	switch e.act {
	case "send":
		return w.send(e.from)
	case "post":
		return w.post(e.from)
	case "retry":
		w.now = max(w.now, w.cores[e.from].Deadline())
		w.cores[e.from].Tick(w.now)
		return w.drain(e.from)
	case "lose":
		l := w.o.Losses[e.from]
		w.lost[e.from] = true
		w.cores[l.Rank].Ended(threshold.Stream{Peer: l.Peer}, threshold.Sample{Bytes: l.Bytes, Sent: true, Beside: 1, Left: 1})
		return w.drain(l.Rank)
	case "cancel":
		return w.cancel(e.from)
	case "deliver":
		return w.deliver(e.from, e.to, e.k)
	case "land", "miss":
		return w.land(e.from, e.to, e.k, e.act == "miss")
	}
	g := &w.gates[e.from]
	g.stale = -1
	if w.o.Plant != "hasty-passed" {
		w.cores[g.at].Shut(g.stream, g.number, uint64(g.index+1))
	}
	return w.drain(g.at)
}

func (w *streams) send(at int) error {
	i := w.nextSend(at)
	m, t := w.o.Messages[i], &w.messages[i]
	w.sent[at]++
	number, inside, ok := w.cores[at].Send(threshold.Stream{Peer: m.To, Tag: int32(m.Tag)}, m.Bytes)
	if ok {
		t.number, t.inside = int(number), inside
	}
	pair := w.pair(at, m.To)
	w.lines[pair] = append(w.lines[pair], packet{message: i, ordered: true})
	return w.drain(at)
}

// post posts a receive. It is readied only if no earlier receive can take its message.
func (w *streams) post(at int) error {
	i := w.nextReceive(at)
	w.posted[at]++
	v, r := w.o.Receives[i], &w.receives[i]
	r.posted = true
	for k, m := range w.o.Messages {
		if t := w.messages[k]; t.came && t.receive < 0 && v.fits(m) {
			return w.match(k, i)
		}
	}
	if v.From < 0 || v.Tag < 0 {
		return nil
	}
	front := 0
	for k, other := range w.o.Receives[:i] {
		if s := w.receives[k]; s.posted && !s.done && s.message < 0 && other.fits(Message{From: v.From, To: v.At, Tag: v.Tag}) && !(w.o.Plant == "behind-any" && other.From < 0) {
			front++
		}
	}
	room := v.Room
	if w.o.Plant == "short-room" {
		room = 1 << 20
	}
	l := threshold.Stream{Peer: v.From, Tag: int32(v.Tag)}
	if number, _, ok := w.cores[at].Offerable(l, front, room); ok {
		r.offered = int(number)
		w.cores[at].Offer(l, number)
		w.say("receive %d is ready before its message", i)
	}
	return w.drain(at)
}

// match matches a message and a receive. A message outside a stream is complete then.
func (w *streams) match(k, i int) error {
	m, t, r := w.o.Messages[k], &w.messages[k], &w.receives[i]
	t.receive, r.message = i, k
	w.say("receive %d has message %d", i, k)
	if !t.inside {
		t.read, r.done = true, true
	}
	if t.number >= 0 {
		w.cores[m.To].Matched(threshold.Stream{Peer: m.From, Tag: int32(m.Tag)}, uint16(t.number), t.inside)
	}
	return w.drain(m.To)
}

func (w *streams) cancel(i int) error {
	v, r := w.o.Receives[i], &w.receives[i]
	r.revoked = true
	if r.offered >= 0 {
		w.cores[v.At].Revoke(threshold.Stream{Peer: v.From, Tag: int32(v.Tag)}, uint16(r.offered))
		return w.drain(v.At)
	}
	r.done, r.cancelled = true, true
	return nil
}

func (w *streams) deliver(from, to, k int) error {
	pair := w.pair(from, to)
	p := w.lines[pair][k]
	w.lines[pair] = slices.Delete(w.lines[pair], k, k+1)
	if p.message < 0 {
		if !w.tamper(from, to, p.control) {
			return nil
		}
		if err := w.cores[to].Allowed(from, p.control); err != nil && w.o.Plant == "" {
			return violation("%v", err)
		}
		w.cores[to].Hear(from, p.control)
		return w.drain(to)
	}
	m, t := w.o.Messages[p.message], &w.messages[p.message]
	t.came = true
	number, ok := w.cores[to].Came(threshold.Stream{Peer: from, Tag: int32(m.Tag)})
	if ok != (t.number >= 0) || ok && int(number) != t.number {
		return violation("message %d has number %d at its sender, and %d (%t) at its receiver", p.message, t.number, number, ok)
	}
	for i, v := range w.o.Receives {
		if r := w.receives[i]; r.posted && !r.done && r.message < 0 && v.fits(m) {
			return w.match(p.message, i)
		}
	}
	return nil
}

// tamper applies a planted mistake to a message; false: the message is lost.
func (w *streams) tamper(from, to int, m threshold.Message) bool {
	switch {
	case w.o.Plant == "lost-passed" && m.Kind == threshold.Passed:
		return false
	case w.o.Plant == "hasty-closed" && m.Kind == threshold.Close:
		back := w.pair(to, from)
		w.lines[back] = append(w.lines[back], packet{message: -1, control: threshold.Message{Kind: threshold.Closed, Tag: m.Tag}, ordered: true})
		return false
	}
	return true
}

// land delivers the next fragment of a put, or its response.
func (w *streams) land(from, to, k int, miss bool) error {
	pair := w.pair(from, to)
	t := &w.tries[pair][k]
	if t.at < w.fragments(*t) {
		behind := -1
		if g := w.gateOf(to, from, t.stream, int(t.address)-1); g != nil && !miss {
			behind = max(g.open, -1)
			if behind < 0 {
				behind = g.stale
			}
		}
		t.at++
		if behind < 0 {
			t.refused = true
			return nil
		}
		if t.probe {
			return nil
		}
		return w.write(behind, t.at-1, t.message)
	}
	done := *t
	w.tries[pair] = slices.Delete(w.tries[pair], k, k+1)
	if w.o.Plant == "half-put" && !done.probe {
		done.refused = false
	}
	w.say("message %d: %s", done.message, map[bool]string{true: "refused", false: "taken"}[done.refused])
	w.cores[from].Tried(done.stream, !done.refused)
	return w.drain(from)
}

func (w *streams) write(i, part, message int) error {
	r := &w.receives[i]
	switch {
	case r.done:
		return violation("message %d lands in the buffer of receive %d, which is over", message, i)
	case r.message >= 0 && r.message != message:
		return violation("message %d lands in the buffer of receive %d, which has message %d", message, i, r.message)
	case r.message < 0 && w.o.Messages[message].Bytes > w.o.Receives[i].Room:
		return violation("message %d of %d bytes lands in the buffer of receive %d, which has %d", message, w.o.Messages[message].Bytes, i, w.o.Receives[i].Room)
	}
	r.parts[part] = message
	return nil
}

// drain executes all actions of a core.
func (w *streams) drain(at int) error {
	for {
		a, more := w.cores[at].Next()
		if !more {
			return nil
		}
		if err := w.do(at, a); err != nil {
			return err
		}
	}
}

func (w *streams) do(at int, a threshold.StreamAction) error {
	c, l := w.cores[at], a.Stream
	switch a.Do {
	case threshold.TellStream:
		w.say("%d>%d %v", at, l.Peer, a.Message)
		pair := w.pair(at, l.Peer)
		ordered := a.InOrder && !(w.o.Plant == "open-overtakes" && a.Message.Kind == threshold.StreamOpened) && !(w.o.Plant == "landed-overtakes" && a.Message.Kind == threshold.Landed)
		w.lines[pair] = append(w.lines[pair], packet{message: -1, control: a.Message, ordered: ordered})
	case threshold.ReserveStream:
		var addresses []uint64
		for i := range c.Gates() {
			w.gates = append(w.gates, gate{at: at, stream: l, index: i, open: -1, stale: -1})
			addresses = append(addresses, uint64(i+1))
		}
		c.Reserved(l, addresses)
	case threshold.TryStream:
		pair := w.pair(at, l.Peer)
		w.tries[pair] = append(w.tries[pair], try{stream: l, message: w.numbered(at, l.Peer, l, a.Number), probe: a.Probe, address: a.Address})
	case threshold.OpenStream:
		return w.open(at, a)
	case threshold.ShutStream:
		g := w.gateOf(at, l.Peer, l, int(a.Number)%c.Gates())
		g.stale, g.open = g.open, -1
		if w.o.Plant == "hasty-passed" {
			c.Shut(l, a.Number, uint64(g.index+1))
		}
	case threshold.FilledStream:
		return w.filled(w.numbered(l.Peer, at, l, a.Number))
	case threshold.FreeStream:
		i := w.gateOf(at, l.Peer, l, int(a.Number)%c.Gates()).open
		w.receives[i].done, w.receives[i].cancelled = true, true
		w.say("receive %d is cancelled", i)
	}
	return nil
}

// open maps a buffer to a gate: of the receive that was readied, or that has matched the message.
func (w *streams) open(at int, a threshold.StreamAction) error {
	g := w.gateOf(at, a.Stream.Peer, a.Stream, int(a.Number)%w.cores[at].Gates())
	g.number = a.Number
	if g.open >= 0 || g.stale >= 0 && w.o.Plant != "hasty-passed" {
		return violation("a stream is opened for message number %d that is open", a.Number)
	}
	if k := w.numbered(a.Stream.Peer, at, a.Stream, a.Number); k >= 0 && w.messages[k].receive >= 0 {
		g.open = w.messages[k].receive
		return nil
	}
	g.open = nth(w.posted[at]-1, len(w.receives), func(i int) bool { return w.o.Receives[i].At == at })
	return nil
}

// numbered is the message of a pair with a given number in its stream, or -1.
func (w *streams) numbered(from, to int, l threshold.Stream, number uint16) int {
	for i, m := range w.o.Messages {
		if m.From == from && m.To == to && m.Tag == int(l.Tag) && w.messages[i].number == int(number) {
			return i
		}
	}
	return -1
}

func (w *streams) filled(k int) error {
	t := &w.messages[k]
	if t.receive < 0 || t.read {
		return violation("message %d is there, and has no receive that waits for it", k)
	}
	r := &w.receives[t.receive]
	for _, has := range r.parts {
		if has != k {
			return violation("receive %d has message %d, and its buffer a part of message %d", t.receive, k, has)
		}
	}
	t.read, r.done = true, true
	w.say("message %d is there", k)
	return nil
}
