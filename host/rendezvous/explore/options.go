package explore

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// A Message is sent by rank From to rank To, from address At of its memory.
type Message struct {
	From, To, Tag int
	Bytes, At     int
	Eager         bool // sent as a whole in its position among the others
}

// A Receive is posted by rank Rank.
type Receive struct {
	Rank, Source, Tag int // Source and Tag may be Any
	Room, At          int
}

// Any is the wildcard for source or tag.
const Any = -1

// Options define the world to explore. Ranks send and receive in the order of the lists; the
// exploration covers all interleavings, including those with arrivals.
type Options struct {
	Ranks    int
	Protocol string // of every message: rget, rput, chunked or spec
	Chunk    int    // bytes per operation; 0: all for rget and rput, 1 for chunked
	Window   int    // of chunked
	Counters int    // of spec; 0: defaultCounters
	Hopeless bool   // spec: pause RTRs after the first unused one, probe again after one receive
	Messages []Message
	Receives []Receive

	IDs           int    // names for sends and for receives; 0: unlimited
	Registrations [3]int // registrations per rank, by class; 0: unlimited
	Descriptors   int    // operations in flight per rank; 0: unlimited

	Faults    int   // maximum number of translation faults
	Shortages int   // maximum number of requests refused for want of room, at random
	Refusals  int   // maximum number of requests that fail for good
	Impatient bool  // the first shortage of memory fails its transfer
	Cancel    []int // messages that may be cancelled
	CancelAt  []int // receives that may be cancelled

	Plant     string // a deliberate mistake to find
	MaxStates int    // limit after which the result is undecided; 0: DefaultMaxStates
	Jobs      int    // goroutines; 0: one. The result does not depend on it
}

// defaultCounters separate the tags used in worlds.
const defaultCounters = 2

// DefaultMaxStates keeps an exploration below about 1 GB.
const DefaultMaxStates = 1 << 20

func (o *Options) protocol() (rendezvous.Protocol, error) {
	switch o.Protocol {
	case "rget":
		return rendezvous.RGET, nil
	case "rput":
		return rendezvous.RPUT, nil
	case "spec":
		return rendezvous.Spec, nil
	case "chunked":
		return rendezvous.NewChunked(max(o.Chunk, 1), max(o.Window, 1)), nil
	}
	return nil, fmt.Errorf("explore: protocol %q, expected rget, rput, chunked or spec", o.Protocol)
}

// config configures the core of every rank.
func (o *Options) config(plant plant) rendezvous.Config {
	patience := rendezvous.Never
	if o.Impatient {
		patience = 0
	}
	p, _ := o.protocol()
	c := rendezvous.Config{Choose: rendezvous.Always(p), IDs: o.IDs, Retry: 1, Patience: patience}
	list := []rendezvous.Protocol{p}
	if o.Protocol == "spec" {
		list = append(list, rendezvous.RGET, rendezvous.RPUT)
		c.Speculation = &rendezvous.Speculation{Counters: o.counters()}
		if o.Hopeless {
			c.Speculation.Adaptation = rendezvous.Adaptation{Window: 1, Threshold: 100, Pause: 1, LongPause: 1}
		}
	}
	for i, p := range list {
		if o.Protocol != "chunked" && o.Chunk > 0 {
			p = stepped{p, o.Chunk}
		}
		if plant.protocol != nil {
			p = plant.protocol(p)
		}
		list[i] = p
	}
	c.Protocols = list
	return c
}

func (o *Options) counters() int {
	if o.Counters > 0 {
		return o.Counters
	}
	return defaultCounters
}

func (o *Options) validate() error {
	if o.Ranks < 2 {
		return fmt.Errorf("explore: %d ranks, expected 2 or more", o.Ranks)
	}
	if _, err := o.protocol(); err != nil {
		return err
	}
	for _, m := range o.Messages {
		if m.From == m.To || min(m.From, m.To) < 0 || max(m.From, m.To) >= o.Ranks || m.At < 1 || m.Bytes < 0 || m.At+m.Bytes > memoryBytes {
			return fmt.Errorf("explore: message %v: expected two different ranks and bytes inside 1..%d", m, memoryBytes)
		}
	}
	for _, r := range o.Receives {
		if r.Rank < 0 || r.Rank >= o.Ranks || r.Source >= o.Ranks || r.At < 1 || r.Room < 0 || r.At+r.Room > memoryBytes {
			return fmt.Errorf("explore: receive %v: expected a rank, its sources, and bytes inside 1..%d", r, memoryBytes)
		}
	}
	if _, ok := plants[o.Plant]; o.Plant != "" && !ok {
		return fmt.Errorf("explore: plant %q, expected one of %s", o.Plant, strings.Join(Plants(), ", "))
	}
	return nil
}

// String returns the command that creates this world in a scenario script.
func (o *Options) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "new ranks=%d protocol=%s", o.Ranks, o.Protocol)
	if o.Protocol == "chunked" {
		fmt.Fprintf(&b, " chunk=%d window=%d", max(o.Chunk, 1), max(o.Window, 1))
	} else if o.Chunk > 0 {
		fmt.Fprintf(&b, " chunk=%d", o.Chunk)
	}
	if o.Counters > 0 {
		fmt.Fprintf(&b, " counters=%d", o.Counters)
	}
	if o.Hopeless {
		b.WriteString(" hopeless")
	}
	for _, m := range o.Messages {
		b.WriteString(" send=" + m.String())
	}
	for _, r := range o.Receives {
		b.WriteString(" receive=" + r.String())
	}
	for _, v := range []struct {
		key string
		n   int
	}{{"ids", o.IDs}, {"early", o.Registrations[0]}, {"late", o.Registrations[1]}, {"received", o.Registrations[2]}, {"descriptors", o.Descriptors}} {
		if v.n > 0 {
			fmt.Fprintf(&b, " %s=%d", v.key, v.n)
		}
	}
	if o.Impatient {
		b.WriteString(" impatient")
	}
	if o.Plant != "" {
		b.WriteString(" plant=" + o.Plant)
	}
	return b.String()
}

// Bound describes the failures and cancels that the world allows.
func (o *Options) Bound() string {
	var list []string
	for _, v := range []struct {
		n    int
		what string
	}{
		{o.Faults, "faults of translation"}, {o.Shortages, "shortages"}, {o.Refusals, "refusals"},
		{len(o.Cancel), "cancelled sends"}, {len(o.CancelAt), "cancelled receives"},
	} {
		if v.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", v.n, v.what))
		}
	}
	if len(list) == 0 {
		return "nothing fails"
	}
	return "at most " + strings.Join(list, ", ")
}

// String returns "0>1:4@1" (rank 0 sends to rank 1 the four bytes at address 1), or "0>1#2:4@1"
// with a tag other than 0.
func (m Message) String() string {
	s := fmt.Sprintf("%d>%d", m.From, m.To)
	if m.Tag != 0 {
		s += fmt.Sprintf("#%d", m.Tag)
	}
	s += fmt.Sprintf(":%d@%d", m.Bytes, m.At)
	if m.Eager {
		s += "!"
	}
	return s
}

// String returns "1<0:4@9", with * for any source or tag.
func (r Receive) String() string {
	any := func(v int) string {
		if v == Any {
			return "*"
		}
		return fmt.Sprint(v)
	}
	s := fmt.Sprintf("%d<%s", r.Rank, any(r.Source))
	if r.Tag != 0 {
		s += "#" + any(r.Tag)
	}
	return s + fmt.Sprintf(":%d@%d", r.Room, r.At)
}
