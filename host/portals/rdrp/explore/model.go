package explore

import (
	"slices"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rdrp"
)

// A model is the matching of a rank as MPI words it: the receives in the order of their calls, the
// messages in the order of their arrival. The elements are numbers of operations.
type model struct{ posted, unexpected []int }

func accepts(o *Options, receive, send int) bool {
	r, s := &o.Ops[receive], &o.Ops[send]
	return (r.Tag == rdrp.AnyTag || r.Tag == s.Tag) && (r.Peer == portals.RankAny || int(r.Peer) == s.Rank)
}

// arrive returns the receive that takes a message, or -1.
func (m *model) arrive(o *Options, send int) int {
	at := slices.IndexFunc(m.posted, func(receive int) bool { return accepts(o, receive, send) })
	if at < 0 {
		m.unexpected = append(m.unexpected, send)
		return -1
	}
	receive := m.posted[at]
	m.posted = slices.Delete(m.posted, at, at+1)
	return receive
}

// receive returns the message that a receive takes at once, or -1.
func (m *model) receive(o *Options, receive int) int {
	at := slices.IndexFunc(m.unexpected, func(send int) bool { return accepts(o, receive, send) })
	if at < 0 {
		m.posted = append(m.posted, receive)
		return -1
	}
	send := m.unexpected[at]
	m.unexpected = slices.Delete(m.unexpected, at, at+1)
	return send
}

// cancel reports whether a receive waited, and removes it.
func (m *model) cancel(receive int) bool {
	at := slices.Index(m.posted, receive)
	if at >= 0 {
		m.posted = slices.Delete(m.posted, at, at+1)
	}
	return at >= 0
}

func (m *model) clone() model { return model{slices.Clone(m.posted), slices.Clone(m.unexpected)} }
