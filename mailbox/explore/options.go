package explore

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// Protocol selects a flow control.
type Protocol uint8

const (
	Static Protocol = iota
	Dynamic
)

func (p Protocol) String() string {
	if p == Dynamic {
		return "dynamic"
	}
	return "static"
}

// Options say what to explore.
type Options struct {
	Procs       int
	Quota       int // data slots per peer; in a dynamic world the mean
	CreditSlots int
	Flow        Protocol
	Formula     mailbox.Formula
	Fault       Fault // a deliberate mistake, to see it found
	Piggyback   bool  // every data packet may then have room for credits or not

	// Messages bounds the data packets of each ordered pair; 0 is no bound: the result then holds
	// for any number of messages.
	Messages int
	// Senders restricts the ordered pairs (from, to) that send data; nil is all.
	Senders [][2]int
	// Arrivals makes the arrival in a mailbox an event of its own. Without it a packet arrives just
	// before it is retrieved, which reaches the same states of the flow controls: design.md says
	// why, and a test compares.
	Arrivals bool
	// Promises checks only what the flow controls promise to the outside, not their own invariants,
	// which catch a mistake much earlier.
	Promises bool
	// Full explores every order of events, also of those that do not disturb each other: reduce.go.
	Full bool
	// MaxStates ends the exploration undecided; 0 is DefaultMaxStates.
	MaxStates int

	Progress func(states int) // called now and then; may be nil
}

// DefaultMaxStates keeps an exploration below about 2 GB.
const DefaultMaxStates = 8 << 20

// Config is the configuration of the explored processes, but for Self.
func (o Options) Config() mailbox.Config {
	return mailbox.Config{Procs: o.Procs, DataSlots: o.Quota * (o.Procs - 1), CreditSlots: o.CreditSlots, Piggyback: o.Piggyback}
}

// World starts the processes.
func (o Options) World() (*World, error) {
	return NewWorld(o.Config(), func(c mailbox.Config) (mailbox.Flow, error) {
		return o.Flow.Start(c, o.Formula, o.Fault)
	})
}

// String is the command that starts this world in a scenario script.
func (o Options) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "new flow=%v procs=%d data=%d credit=%d", o.Flow, o.Procs, o.Config().DataSlots, o.CreditSlots)
	if o.Formula != mailbox.Eq1 {
		fmt.Fprintf(&b, " formula=%v", o.Formula)
	}
	if o.Fault != NoFault {
		fmt.Fprintf(&b, " fault=%v", o.Fault)
	}
	if o.Piggyback {
		b.WriteString(" piggyback")
	}
	if o.Promises {
		b.WriteString(" promises")
	}
	return b.String()
}

// Bound says in words what of the world's behaviour the options leave out.
func (o Options) Bound() string {
	s := "any number of messages"
	if o.Messages > 0 {
		s = fmt.Sprintf("at most %d messages per ordered pair", o.Messages)
	}
	if o.Senders != nil {
		s += fmt.Sprintf(", sent only by %v", o.Senders)
	}
	return s
}

func (o Options) sends(from, to int) bool {
	if o.Senders == nil {
		return from != to
	}
	for _, p := range o.Senders {
		if p == [2]int{from, to} {
			return true
		}
	}
	return false
}

func (o Options) validate() error {
	for _, p := range o.Senders {
		if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= o.Procs {
			return fmt.Errorf("explore: senders %v, expected two different ranks in 0..%d", p, o.Procs-1)
		}
	}
	if o.Messages < 0 || o.MaxStates < 0 {
		return fmt.Errorf("explore: messages %d, max states %d, expected none below 0", o.Messages, o.MaxStates)
	}
	return nil
}

// Result is what an exploration found. The properties are: no region of a mailbox overflows;
// credits are conserved; data packets arrive once and in order; no illegal transition; whenever
// nothing is under way, every pair that wants to send can; and retrieving alone always ends with
// nothing under way, so control packets cannot breed control packets for ever.
type Result = modelcheck.Result

// The verdicts.
const (
	Proved    = modelcheck.Proved
	Refuted   = modelcheck.Refuted
	Undecided = modelcheck.Undecided
)
