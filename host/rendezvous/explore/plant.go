package explore

import (
	"errors"
	"slices"

	"github.com/nicloop/nicloop/host/rendezvous"
)

// A plant is a deliberate mistake, injected at the interface of the core or by a wrapper of a
// protocol; the core itself contains none of them. Plants show that the explorer finds mistakes.
type plant struct {
	protocol   func(rendezvous.Protocol) rendezvous.Protocol
	action     func(w *World, at int, a *rendezvous.Action) bool // false: the action is dropped
	hear       func(w *World, from, to int, c *rendezvous.Control) bool
	registered func(err *error)
	posted     func(w *World, at int, a rendezvous.Action, err *error)
	done       func(w *World, at int, o op, err *error)
	performed  func(w *World, from, to int, o op) error
	queues     bool // control messages wait behind messages that are not ready
	silent     bool // a withdrawn message is not reported
	hasty      bool // a fence is treated as completed when it is posted
	deaf       bool // late faults are ignored
	sleeps     bool // refused requests are not retried
	uncounted  bool // the sender does not count eager messages
	unseen     bool // the receiver does not count them
	bold       bool // a wildcard receive does not prevent offers behind it
	abrupt     bool // an offer is cancelled without revoking its RTR
}

// Plants lists the names of the deliberate mistakes.
func Plants() (names []string) {
	for name := range plants {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

var plants = map[string]plant{
	"":                    {},
	"forgotten-fin":       {action: func(_ *World, _ int, a *rendezvous.Action) bool { return !isFIN(a) }},
	"good-fin":            {action: goodFIN},
	"by-address":          {hear: byAddress},
	"any-generation":      {hear: anyGeneration},
	"done-when-read":      {performed: doneWhenRead},
	"done-when-written":   {performed: doneWhenWritten},
	"no-fence":            {hasty: true},
	"deaf-to-late-faults": {deaf: true},
	"deaf-to-faults":      {done: func(_ *World, _ int, _ op, err *error) { *err = nil }},
	"leak-on-failure":     {action: func(_ *World, _ int, a *rendezvous.Action) bool { return a.Do != rendezvous.Release || !a.End.Failed() }},
	"no-drain":            {done: noDrain},
	"lost-operation":      {posted: func(_ *World, _ int, _ rendezvous.Action, err *error) { *err = forgive(*err) }},
	"fatal-shortage":      {registered: fatal},
	"no-retry":            {sleeps: true},
	"queued-control":      {queues: true},
	"rts-overtaken":       {action: rtsOvertaken},
	"cancel-of-received":  {hear: cancelOfReceived},
	"silent-cancel":       {silent: true},
	"abrupt-receiver":     {protocol: func(p rendezvous.Protocol) rendezvous.Protocol { return abrupt{p} }},
	"no-late-memory":      {protocol: func(p rendezvous.Protocol) rendezvous.Protocol { return noLate{p} }},
	"not-shortened":       {hear: notShortened},
	"no-window":           {protocol: func(p rendezvous.Protocol) rendezvous.Protocol { return noWindow{p} }},
	"same-chunk":          {action: sameChunk},
	"fin-when-posted":     {posted: finWhenPosted},

	"uncounted-eager":       {uncounted: true},
	"unseen-eager":          {unseen: true},
	"offer-behind-wildcard": {bold: true},
	"cancel-without-revoke": {abrupt: true},
	"claim-overtakes":       {action: claimOvertakes},
	"rtr-for-the-next":      {hear: rtrForTheNext},
	"rtr-without-length":    {hear: rtrWithoutLength},
	"leak-of-overtaken":     {action: func(_ *World, _ int, a *rendezvous.Action) bool { return a.Do != rendezvous.Release || a.End.Whole() }},
}

func isFIN(a *rendezvous.Action) bool {
	return a.Do == rendezvous.Tell && a.Control.Kind == rendezvous.FIN
}

// goodFIN: a FIN does not report the failure.
func goodFIN(_ *World, _ int, a *rendezvous.Action) bool {
	if isFIN(a) {
		a.Control.Code = rendezvous.Good
	}
	return true
}

// byAddress: a transfer is identified by the address of its bytes, which is ambiguous for two sends
// from one buffer.
func byAddress(w *World, from, to int, c *rendezvous.Control) bool {
	if c.Kind != rendezvous.FIN {
		return true
	}
	core := w.ranks[to].core
	meant := rendezvous.ID(0)
	var at uint64
	for ref := range core.Records() {
		if e := core.At(ref); e.Live() && e.ID() == c.To {
			at = e.Local()
		}
	}
	for ref := range core.Records() {
		if e := core.At(ref); e.Live() && e.Peer() == from && e.Local() == at && meant == 0 {
			meant = e.ID()
		}
	}
	if meant != 0 {
		c.To = meant
	}
	return true
}

// anyGeneration: a transfer is identified by its index without the generation.
func anyGeneration(w *World, _, to int, c *rendezvous.Control) bool {
	const index = 1<<16 - 1
	core := w.ranks[to].core
	for ref := range core.Records() {
		if e := core.At(ref); e.Live() && e.ID()&index == c.To&index {
			c.To = e.ID()
		}
	}
	return true
}

// doneWhenRead: the sender treats the read of its last byte as completion.
func doneWhenRead(w *World, from, to int, o op) error {
	m := w.o.Messages[o.message]
	if o.do != rendezvous.Get || int(o.remote)+o.bytes != m.At+m.Bytes {
		return nil
	}
	core := w.ranks[to].core
	core.Hear(from, rendezvous.Control{Kind: rendezvous.FIN, To: core.At(w.messages[o.message].ref).ID()})
	return w.drain(to)
}

// doneWhenWritten: the receiver treats the write of its last byte as completion.
func doneWhenWritten(w *World, from, to int, o op) error {
	if o.do != rendezvous.Put || o.fault {
		return nil
	}
	i := w.messages[o.message].receive
	m, r := w.o.Messages[o.message], w.o.Receives[i]
	if int(o.remote)+o.bytes != r.At+min(m.Bytes, r.Room) {
		return nil
	}
	core := w.ranks[to].core
	core.Hear(from, rendezvous.Control{Kind: rendezvous.FIN, To: core.At(w.receives[i].ref).ID()})
	return w.drain(to)
}

// noDrain: the first failure ends a transfer although operations are in flight.
func noDrain(w *World, at int, o op, err *error) {
	if *err == nil {
		return
	}
	core := w.ranks[at].core
	e := core.At(o.ref)
	for _, list := range w.requests {
		for _, other := range list {
			if other.message == o.message && other.ref == o.ref {
				core.Done(e, other.do, other.bytes, nil)
			}
		}
	}
}

// forgive treats a refusal as success.
func forgive(err error) error {
	if errors.Is(err, rendezvous.ErrAgain) {
		return nil
	}
	return err
}

// fatal treats a shortage as a failure.
func fatal(err *error) {
	if errors.Is(*err, rendezvous.ErrAgain) || errors.Is(*err, rendezvous.ErrFull) {
		*err = errRefused
	}
}

// rtsOvertaken: an RTS is sent behind messages sent after it.
func rtsOvertaken(w *World, at int, a *rendezvous.Action) bool {
	if a.Do != rendezvous.Tell || a.Control.Kind != rendezvous.RTS {
		return true
	}
	pair := w.pair(at, a.Peer)
	i := a.End.User().(int)
	w.outbox[pair] = slices.DeleteFunc(w.outbox[pair], func(p packet) bool { return p.message == i })
	w.outbox[pair] = append(w.outbox[pair], packet{message: i, held: true})
	return true
}

// notShortened: the sender moves its whole message into a shorter buffer.
func notShortened(_ *World, _, _ int, c *rendezvous.Control) bool {
	if c.Kind == rendezvous.CTS {
		c.Bytes = memoryBytes
	}
	return true
}

// cancelOfReceived: a message that was matched is reported as withdrawn.
func cancelOfReceived(w *World, from, to int, c *rendezvous.Control) bool {
	if c.Kind != rendezvous.Cancel {
		return true
	}
	w.outbox[w.pair(to, from)] = append(w.outbox[w.pair(to, from)], packet{
		message: -1, control: rendezvous.Control{Kind: rendezvous.FIN, To: c.From, Code: rendezvous.Cancelled},
	})
	return false
}

// sameChunk: every chunk is read from the offset of the first one.
func sameChunk(w *World, _ int, a *rendezvous.Action) bool {
	if a.Do == rendezvous.Get {
		a.Remote = uint64(w.o.Messages[w.receives[a.End.User().(int)].message].At)
	}
	return true
}

// claimOvertakes: a claim is sent ahead of messages sent before it.
func claimOvertakes(w *World, at int, a *rendezvous.Action) bool {
	if a.Do != rendezvous.Tell || a.Control.Kind != rendezvous.Claim {
		return true
	}
	pair := w.pair(at, a.Peer)
	i := a.End.User().(int)
	w.outbox[pair] = slices.DeleteFunc(w.outbox[pair], func(p packet) bool { return p.message == i })
	w.outbox[pair] = slices.Insert(w.outbox[pair], 0, packet{message: i, held: true})
	return true
}

// rtrForTheNext: an RTR is used by the next message, regardless of messages sent before it arrived.
func rtrForTheNext(w *World, from, to int, c *rendezvous.Control) bool {
	if c.Kind == rendezvous.RTR {
		begun := 0
		for i, m := range w.o.Messages {
			if m.From == to && m.To == from && w.messages[i].progress != notBegun {
				begun++
			}
		}
		c.To, c.Detail = rendezvous.ID(begun), 0
	}
	return true
}

// rtrWithoutLength: the sender puts its whole message although less was offered.
func rtrWithoutLength(_ *World, _, _ int, c *rendezvous.Control) bool {
	if c.Kind == rendezvous.RTR {
		c.Bytes = memoryBytes
	}
	return true
}

// finWhenPosted: the receiver sends FIN as soon as all operations are posted.
func finWhenPosted(w *World, at int, a rendezvous.Action, err *error) {
	if a.Do != rendezvous.Get || *err != nil {
		return
	}
	r := w.receives[a.End.User().(int)]
	m := w.o.Messages[r.message]
	if int(a.Remote)+a.Bytes == m.At+m.Bytes {
		pair := w.pair(at, a.Peer)
		to := w.ranks[m.From].core.At(w.messages[r.message].ref).ID()
		w.outbox[pair] = append(w.outbox[pair], packet{message: -1, control: rendezvous.Control{Kind: rendezvous.FIN, To: to}})
	}
}

// abrupt: a cancelled receiver does not wait for its sender.
type abrupt struct{ rendezvous.Protocol }

func (abrupt) Pushes() bool { return false }

// noLate: a sender that is asked for its address has no memory.
type noLate struct{ rendezvous.Protocol }

func (p noLate) Hear(e *rendezvous.End, c rendezvous.Control) bool {
	if e.Sends() && c.Kind == rendezvous.CTS && e.Local() == 0 {
		return true
	}
	return p.Protocol.Hear(e, c)
}

// noWindow: the number of operations in flight is not limited.
type noWindow struct{ rendezvous.Protocol }

func (p noWindow) Step(left, _ int) int { return p.Protocol.Step(left, 0) }
