package explore

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/mailbox"
)

// Fault is one deliberate mistake. It is made around the real flow control, which has no room for
// it: in the packets that go in and out, and in the state that AppendState and LoadState carry.
// Their only use is to show that the explorer, the scenarios and the naive model find them.
type Fault uint8

const (
	NoFault          Fault = iota
	EarlyThreshold         // a threshold is reached one packet too early
	LateThreshold          // a threshold is reached one packet too late
	KeepThreshold          // the reached threshold is not removed from the list
	LoseCarry              // packets beyond an overtaken threshold are forgotten
	LiteralThreshold       // the threshold of Eq. 1 is inserted although fewer credits were granted
	GrantUnavailable       // credits are granted beyond the available slots
	ForgetPiggyback        // credits already piggybacked are returned again at the threshold
	LoseExcess             // an excess of piggybacked credits does not raise the current threshold
	NoShrink               // thresholds stay as they are after a compulsory response
	FreeRequest            // requests and responses consume no credit
	EagerResponse          // a response returns the static slots, too
	BlockedStarves         // a blocked peer below its static slots gets nothing
	CountCredits           // credit packets count as retrieved packets
	StealStatic            // a steal takes static slots, too
	DropRequest            // a request without a credit is forgotten, not kept in its flag
	DropResponse           // a response without a credit is forgotten, not kept in its flag
	numFaults
)

var faultNames = [numFaults]string{"none", "early-threshold", "late-threshold", "keep-threshold",
	"lose-carry", "literal-threshold", "grant-unavailable", "forget-piggyback", "lose-excess",
	"no-shrink", "free-request", "eager-response", "blocked-starves", "count-credits",
	"steal-static", "drop-request", "drop-response"}

func (f Fault) String() string {
	if f < numFaults {
		return faultNames[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}

// Faults lists all deliberate mistakes.
func Faults() []Fault {
	var all []Fault
	for f := NoFault + 1; f < numFaults; f++ {
		all = append(all, f)
	}
	return all
}

// Start makes the flow control of one process, with a mistake around it or, without one, bare.
func (p Protocol) Start(c mailbox.Config, formula mailbox.Formula, fault Fault) (mailbox.Flow, error) {
	start := mailbox.NewStaticFormula
	if p == Dynamic {
		start = mailbox.NewDynamicFormula
	}
	f, err := start(c, formula)
	if err != nil || fault == NoFault {
		return f, err
	}
	planted := planted{Flow: f, fault: fault, c: c, formula: formula}
	if p == Dynamic {
		return &plantedDynamic{planted: planted}, nil
	}
	return &plantedStatic{planted: planted}, nil
}

// planted is a flow control with a mistake around it. After every call it takes the control packets
// out, so that they can be changed, and hands them on one by one.
type planted struct {
	mailbox.Flow
	fault   Fault
	c       mailbox.Config
	formula mailbox.Formula
	out     []mailbox.Control
}

func (p *planted) Next() (mailbox.Control, bool) {
	if len(p.out) == 0 {
		return mailbox.Control{}, false
	}
	c := p.out[0]
	p.out = pop(p.out)
	return c, true
}

func (p *planted) collect() {
	for c, ok := p.Flow.Next(); ok; c, ok = p.Flow.Next() {
		p.out = append(p.out, c)
	}
}

// deliver is the real Retrieve with its control packets collected. In an exploration all packets
// come from this very code, so one that is refused is a violation.
func (p *planted) deliver(r mailbox.Retrieved) {
	if err := p.Flow.Retrieve(r); err != nil {
		panic(err)
	}
	p.collect()
}

// credit is the credit packet that the call left for a peer, if any.
func (p *planted) credit(peer int) *mailbox.Control {
	i := slices.IndexFunc(p.out, func(c mailbox.Control) bool { return c.To == peer && c.Kind == mailbox.Credit })
	if i < 0 {
		return nil
	}
	return &p.out[i]
}

// slot is a retrieved packet that counts and says nothing else.
func slot(from int) mailbox.Retrieved { return mailbox.Retrieved{From: from, Kind: mailbox.Data} }

// index numbers the peers as the encoded state does: in order of rank, without the process itself.
func (p *planted) index(peer int) int {
	if peer > p.c.Self {
		return peer - 1
	}
	return peer
}

// plantedStatic is a static flow control with a mistake. Its state is two numbers per peer.
type plantedStatic struct{ planted }

const (
	staticCredits = iota
	staticRetrieved
	staticNumbers
)

func (p *plantedStatic) Send(peer int, room bool) mailbox.Grant {
	had := p.numbers()
	g := p.Flow.Send(peer, room)
	if p.fault == ForgetPiggyback && g.Piggyback {
		now := p.numbers()
		k := staticNumbers*p.index(peer) + staticRetrieved
		now[k] = had[k]
		p.LoadState(encode(now))
	}
	return g
}

func (p *plantedStatic) Retrieve(r mailbox.Retrieved) error {
	switch {
	case r.Kind == mailbox.Credit && p.fault == CountCredits:
		p.deliver(slot(r.From))
	case r.Kind == mailbox.Data && p.fault == EarlyThreshold:
		p.early(r)
		return nil
	case r.Kind == mailbox.Data && p.fault == LateThreshold:
		p.late(r)
		return nil
	}
	p.deliver(r)
	return nil
}

// threshold is that of the real flow control for a peer.
func (p *plantedStatic) threshold(peer int) int64 {
	return int64(p.formula.Threshold(p.c.Quota(p.c.Self, peer), p.c.CreditSlots))
}

// early: the packet before the one that reaches the threshold counts twice, for the threshold only.
func (p *plantedStatic) early(r mailbox.Retrieved) {
	state := p.numbers()
	retrieved := &state[staticNumbers*p.index(r.From)+staticRetrieved]
	again := *retrieved+2 == p.threshold(r.From)
	if again {
		*retrieved++
		p.LoadState(encode(state))
	}
	p.deliver(r)
	if again {
		p.credit(r.From).Credits--
	}
}

// late: what is due at the threshold is not returned, and due with the next packet still.
func (p *plantedStatic) late(r mailbox.Retrieved) {
	state := p.numbers()
	due := state[staticNumbers*p.index(r.From)+staticRetrieved] + 1
	p.deliver(r)
	if due == p.threshold(r.From) {
		p.out = p.out[:0]
		state = p.numbers()
		state[staticNumbers*p.index(r.From)+staticRetrieved] = due
		p.LoadState(encode(state))
	}
}
