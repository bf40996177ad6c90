package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/threshold"
)

// ErrUnsafe is the cause of every violation.
var ErrUnsafe = errors.New("threshold violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// base is the address of a rank's buffers, unit the memory of the shortest buffer.
const (
	base = 64
	unit = 64
)

// A Message is sent by a rank.
type Message struct{ From, To, Bytes, Tag int }

// A Loss is a loss of overlap observed by a rank, after which it requests a threshold for messages
// of the given length.
type Loss struct{ Rank, Peer, Bytes int }

// Options define a world.
type Options struct {
	Ranks     int
	Handshake threshold.Handshake
	Units     []int // memory of each rank, in units
	Stocks    int
	First     int
	Pool      int  // buffers of a length that all peers share; 0: each has its own
	OneWay    bool // no buffers for a peer that has not sent anything
	Messages  []Message
	Losses    []Loss
	Receives  []Receive // under NotReady
	Cancels   []int     // receives to cancel
	Gates     int       // per stream; 0: 1
	Ticks     int       // how often a rank's buffers become idle
	Plant     string
	MaxStates int // 0: 2 million
}

func (o *Options) validate() error {
	if o.Ranks < 2 || len(o.Units) != o.Ranks {
		return fmt.Errorf("explore: %d ranks with memory for %d, expected 2 or more and the same", o.Ranks, len(o.Units))
	}
	for _, m := range o.Messages {
		if m.From == m.To || min(m.From, m.To) < 0 || max(m.From, m.To) >= o.Ranks || m.Bytes < 1 {
			return fmt.Errorf("explore: message %+v: expected two ranks and some bytes", m)
		}
	}
	for _, l := range o.Losses {
		if l.Rank == l.Peer || min(l.Rank, l.Peer) < 0 || max(l.Rank, l.Peer) >= o.Ranks || l.Bytes < 2 {
			return fmt.Errorf("explore: loss %+v: expected two ranks and 2 bytes or more", l)
		}
	}
	if o.Handshake != threshold.NotReady && len(o.Receives)+len(o.Cancels) > 0 {
		return errors.New("explore: receives are posted under notready alone")
	}
	for _, v := range o.Receives {
		if v.At == v.From || v.At < 0 || max(v.At, v.From) >= o.Ranks || v.Room < 1 {
			return fmt.Errorf("explore: receive %+v: expected two ranks and some bytes", v)
		}
	}
	for _, i := range o.Cancels {
		if i < 0 || i >= len(o.Receives) {
			return fmt.Errorf("explore: receive %d is cancelled, expected one of %d", i, len(o.Receives))
		}
	}
	if o.Plant != "" && !slices.Contains(Plants(), o.Plant) {
		return fmt.Errorf("explore: no mistake %q, expected one of %v", o.Plant, Plants())
	}
	return nil
}

// World consists of ranks with the real core and their environment.
type World struct {
	o     *Options
	cores []*threshold.Core
	lines [][]packet // [pair]: messages in flight
	puts  [][]put    // [pair]: puts in flight
	shut  []bool     // [pair]: the channel is stopped
	sent  []int      // by rank: number of messages sent
	lost  []bool     // losses that have occurred
	state []progress // of messages
	at    []uint64   // by message: its buffer; 0: none
	ticks []int
	now   threshold.Time
	say   func(format string, args ...any)
}

// progress is the state of a message.
type progress struct{ sent, came, landed, read bool }

// A packet is a message of the application or of the core.
type packet struct {
	message int // or -1
	control threshold.Message
	ordered bool
	waits   bool // sent while the channel was stopped
}

type put struct{ message int }

// NewWorld creates the initial state.
func NewWorld(o *Options) (*World, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	n := o.Ranks
	w := &World{
		o: o, lines: make([][]packet, n*n), puts: make([][]put, n*n), shut: make([]bool, n*n), sent: make([]int, n), lost: make([]bool, len(o.Losses)),
		state: make([]progress, len(o.Messages)), at: make([]uint64, len(o.Messages)), ticks: make([]int, n), say: func(string, ...any) {},
	}
	for i := range n {
		w.cores = append(w.cores, threshold.New(threshold.Config{
			Self: i, Ranks: n, Handshake: o.Handshake, Base: base, Cap: unit * o.Units[i], Stocks: o.Stocks, First: max(o.First, 1), Most: max(o.First, 2),
			Pool: o.Pool, OneWay: o.OneWay, Policy: threshold.Policy{Window: 1, Offset: 1}, Idle: 1,
		}))
	}
	return w, nil
}

func (w *World) pair(from, to int) int { return from*w.o.Ranks + to }

// CloneFor copies a world between two events.
func (w *World) CloneFor(event) world {
	n := *w
	n.cores = slices.Clone(w.cores)
	for i, c := range n.cores {
		n.cores[i] = c.Clone()
	}
	n.lines, n.puts = slices.Clone(w.lines), slices.Clone(w.puts)
	for i := range n.lines {
		n.lines[i], n.puts[i] = slices.Clone(w.lines[i]), slices.Clone(w.puts[i])
	}
	n.shut, n.sent, n.lost, n.state = slices.Clone(w.shut), slices.Clone(w.sent), slices.Clone(w.lost), slices.Clone(w.state)
	n.at, n.ticks = slices.Clone(w.at), slices.Clone(w.ticks)
	return &n
}

// nextSend is the message that a rank sends next, or -1.
func (w *World) nextSend(at int) int {
	return nth(w.sent[at], len(w.o.Messages), func(i int) bool { return w.o.Messages[i].From == at })
}

func (w *World) send(at int) error {
	i := w.nextSend(at)
	m := w.o.Messages[i]
	pair := w.pair(m.From, m.To)
	w.sent[at]++
	w.state[i].sent = true
	address, ok := w.cores[at].Take(m.To, m.Bytes)
	if ok {
		w.at[i] = address
		w.puts[pair] = append(w.puts[pair], put{i})
		w.say("message %d goes to a buffer at %d", i, address)
	} else {
		w.state[i].landed = true
		w.say("message %d goes by a rendezvous", i)
	}
	w.lines[pair] = append(w.lines[pair], packet{message: i, ordered: true, waits: w.shut[pair]})
	return w.drain(at)
}

// lose makes a rank observe a loss of overlap.
func (w *World) lose(i int) error {
	l := w.o.Losses[i]
	w.lost[i] = true
	w.cores[l.Rank].Ended(l.Peer, threshold.Sample{Bytes: l.Bytes, Sent: true, Beside: 1, Left: 1})
	return w.drain(l.Rank)
}

// tick makes a rank's buffers idle.
func (w *World) tick(at int) error {
	w.now += 2
	w.ticks[at]++
	w.cores[at].Tick(w.now)
	return w.drain(at)
}

// deliver delivers packet k of a pair.
func (w *World) deliver(from, to, k int) error {
	pair := w.pair(from, to)
	p := w.lines[pair][k]
	w.lines[pair] = slices.Delete(w.lines[pair], k, k+1)
	if p.message >= 0 {
		return w.came(from, to, p.message)
	}
	m := p.control
	if !w.tamper(from, to, &m) {
		return nil
	}
	if err := w.cores[to].Allowed(from, m); err != nil && w.o.Plant == "" {
		return violation("%v", err)
	}
	w.cores[to].Hear(from, m)
	return w.drain(to)
}

// came handles the arrival of an application message.
func (w *World) came(from, to, i int) error {
	for k, m := range w.o.Messages[:i] {
		if m.From == from && m.To == to && !w.state[k].came {
			return violation("message %d comes before message %d", i, k)
		}
	}
	w.state[i].came = true
	if w.at[i] == 0 {
		w.cores[to].Came(from, w.o.Messages[i].Bytes)
		return w.drain(to)
	}
	if err := w.cores[to].Filled(from, w.at[i], uint64(w.o.Messages[i].Bytes)); err != nil {
		return violation("message %d: %v", i, err)
	}
	return w.drain(to)
}

// land delivers the bytes of a pair's next message.
func (w *World) land(from, to int) error {
	pair := w.pair(from, to)
	i := w.puts[pair][0].message
	w.puts[pair] = slices.Delete(w.puts[pair], 0, 1)
	w.state[i].landed = true
	at := slices.IndexFunc(w.cores[to].Here(from), func(b threshold.Buffer) bool { return b.At == w.at[i] })
	if at < 0 {
		return violation("the bytes of message %d land at %d, where rank %d has no buffer for rank %d", i, w.at[i], to, from)
	}
	if b := w.cores[to].Here(from)[at]; b.Bytes < w.o.Messages[i].Bytes {
		return violation("message %d of %d bytes lands in a buffer of %d", i, w.o.Messages[i].Bytes, b.Bytes)
	}
	for k, m := range w.o.Messages {
		if k != i && m.To == to && w.at[k] == w.at[i] && w.state[k].landed && !w.state[k].read {
			return violation("message %d overwrites message %d, which has not been read", i, k)
		}
	}
	return nil
}

// mayRead reports whether a receive can take a message: it and its bytes have arrived, and it is
// the first of its pair.
func (w *World) mayRead(i int) bool {
	s := w.state[i]
	return s.came && !s.read && (s.landed || w.o.Plant == "read-before-landed")
}

func (w *World) read(i int) error {
	m := w.o.Messages[i]
	w.state[i].read = true
	if !w.state[i].landed {
		return violation("message %d is read before its bytes have landed", i)
	}
	if w.at[i] != 0 {
		if !slices.ContainsFunc(w.cores[m.To].Here(m.From), func(b threshold.Buffer) bool { return b.At == w.at[i] && b.Full }) {
			return violation("message %d is read from a freed buffer at %d", i, w.at[i])
		}
		w.cores[m.To].Read(m.From, w.at[i])
	}
	return w.drain(m.To)
}

// drain executes all actions of a core and checks its memory.
func (w *World) drain(at int) error {
	c := w.cores[at]
	for {
		a, more := c.Next()
		if !more {
			break
		}
		pair := w.pair(at, a.Peer)
		if a.Resume {
			if w.o.Plant != "not-resumed" {
				w.shut[pair] = false
				for i := range w.lines[pair] {
					w.lines[pair][i].waits = false
				}
			}
			w.say("%d to %d continues", at, a.Peer)
			continue
		}
		w.say("%d>%d %v", at, a.Peer, a.Message)
		overtakes := w.o.Plant == "est-overtakes" && a.Message.Kind == threshold.Established || w.o.Plant == "reconn-overtakes" && a.Message.Kind == threshold.Reconnect
		p := packet{message: -1, control: a.Message, ordered: a.InOrder && !overtakes, waits: w.shut[pair] && !a.Outside}
		at := len(w.lines[pair])
		if a.Outside {
			if first := slices.IndexFunc(w.lines[pair], func(q packet) bool { return q.waits }); first >= 0 {
				at = first
			}
		}
		w.lines[pair] = slices.Insert(w.lines[pair], at, p)
		w.shut[pair] = w.shut[pair] || a.Last
	}
	return w.check(at)
}

// check verifies the memory of a rank and its channels.
func (w *World) check(at int) error {
	var all []threshold.Buffer
	lengths := map[int]int{}
	for peer := range w.o.Ranks {
		if w.o.Handshake == threshold.Full && w.cores[at].Stopped(peer) {
			return violation("the channel from %d to %d stops", at, peer)
		}
		for _, b := range w.cores[at].Here(peer) {
			all = append(all, b)
			lengths[b.Bytes]++
		}
	}
	slices.SortFunc(all, func(a, b threshold.Buffer) int { return int(a.At) - int(b.At) })
	end := uint64(base)
	for _, b := range all {
		if b.At < end {
			return violation("buffers of rank %d overlap at %d", at, b.At)
		}
		end = b.At + uint64((b.Bytes+unit-1)/unit*unit)
	}
	if end > uint64(base+unit*w.o.Units[at]) {
		return violation("rank %d has buffers up to %d, beyond its memory", at, end)
	}
	for n, count := range lengths {
		if w.o.Pool > 0 && count > w.o.Pool {
			return violation("rank %d has %d buffers of %d bytes, expected a pool of at most %d", at, count, n, w.o.Pool)
		}
	}
	if w.o.Stocks > 0 && len(lengths) > w.o.Stocks {
		return violation("rank %d has buffers of %d lengths, expected %d at most", at, len(lengths), w.o.Stocks)
	}
	return nil
}

// Finished checks a final state.
func (w *World) Finished() error {
	for i, s := range w.state {
		if !s.read {
			return violation("message %d is never read", i)
		}
	}
	for a, c := range w.cores {
		for b, d := range w.cores {
			if a == b {
				continue
			}
			var here []uint64
			for _, x := range c.Here(b) {
				here = append(here, x.At)
			}
			there := d.There(a)
			slices.Sort(here)
			slices.Sort(there)
			switch {
			case c.Switching(b):
				return violation("the change between %d and %d is never over at %d", a, b, a)
			case c.Threshold(b) != d.Threshold(a):
				return violation("the channel of %d and %d has thresholds of %d and %d", a, b, c.Threshold(b), d.Threshold(a))
			case !slices.Equal(here, there):
				return violation("rank %d has buffers at %v for rank %d, which knows of %v", a, here, b, there)
			}
		}
	}
	return nil
}

func (w *World) tellTo(say func(format string, args ...any)) { w.say = say }
