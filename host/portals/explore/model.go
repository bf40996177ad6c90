package explore

import (
	"slices"

	"github.com/nicloop/nicloop/host/portals"
)

// A model is portal table entry 0 of a rank as the specification words it: plain lists, and the
// events that a program must read.
type model struct {
	enabled  bool
	posted   []waiting // receives in the order of their appends
	headers  []waiting // unexpected headers in the order of arrival
	expected []expected
}

// A waiting receive or header: its tag and the number of its operation.
type waiting struct{ tag, op int }

type expected struct {
	kind portals.EventKind
	op   int // message
	recv int // receive; -1: the overflow entry
}

func accepts(recvTag, tag int) bool { return recvTag == anyTag || recvTag == tag }

// arrive is a put that reaches the rank.
func (m *model) arrive(o *Options, tag, op int) portals.Fail {
	if !m.enabled {
		return portals.FailPTDisabled
	}
	room := !o.Flow || len(m.expected) < o.Events
	at := slices.IndexFunc(m.posted, func(w waiting) bool { return accepts(w.tag, tag) })
	switch {
	case at >= 0 && room:
		m.expected = append(m.expected, expected{kind: portals.EventPut, op: op, recv: m.posted[at].op})
		m.posted = slices.Delete(m.posted, at, at+1)
		return portals.FailNone
	case at < 0 && o.Overflow && room && len(m.headers) < o.Headers:
		m.expected = append(m.expected, expected{kind: portals.EventPut, op: op, recv: -1})
		m.headers = append(m.headers, waiting{tag, op})
		return portals.FailNone
	case !o.Flow:
		return portals.FailDropped
	}
	m.enabled = false
	m.expected = append(m.expected, expected{kind: portals.EventPTDisabled})
	return portals.FailPTDisabled
}

// receive is an append of a rank.
func (m *model) receive(tag, op int) {
	at := slices.IndexFunc(m.headers, func(w waiting) bool { return accepts(tag, w.tag) })
	if at < 0 {
		m.posted = append(m.posted, waiting{tag, op})
		return
	}
	m.expected = append(m.expected, expected{kind: portals.EventPutOverflow, op: m.headers[at].op, recv: op})
	m.headers = slices.Delete(m.headers, at, at+1)
}

func (m *model) clone() model {
	c := *m
	c.posted, c.headers, c.expected = slices.Clone(m.posted), slices.Clone(m.headers), slices.Clone(m.expected)
	return c
}
