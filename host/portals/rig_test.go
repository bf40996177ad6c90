package portals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A rig has two processes or more, each with an interface, an event queue for operations (eq[i]),
// one for portal table entry 0 (teq[i]), and a descriptor of its whole memory (md[i]).
type rig struct {
	t       *testing.T
	ni      []*NI
	memory  []Flat
	eq, teq []EQ
	ct      []CT
	md      []MD
	wire    []Packet
}

const rigMemory = 1024

func newRig(t *testing.T, o NIOptions, pt PTOptions, change ...func(*Limits)) *rig {
	r := &rig{t: t}
	limits := DefaultLimits()
	for _, f := range change {
		f(&limits)
	}
	for i := range 3 {
		self := Rank(uint32(i))
		if o&NIPhysical != 0 {
			self = Process{NID: uint32(10 + i), PID: uint32(20 + i)}
		}
		m := make(Flat, rigMemory)
		n, err := NewNI(o, self, uint32(100+i), limits, m)
		require.NoError(t, err)
		eq, err := n.EQAlloc(64)
		require.NoError(t, err)
		teq, err := n.EQAlloc(64)
		require.NoError(t, err)
		ct, err := n.CTAlloc()
		require.NoError(t, err)
		md, err := n.MDBind(MemoryDescriptor{Length: rigMemory, EQ: eq, CT: ct, Options: MDEventCTAck | MDEventCTReply})
		require.NoError(t, err)
		_, err = n.PTAlloc(pt, teq, 0)
		require.NoError(t, err)
		r.ni, r.memory = append(r.ni, n), append(r.memory, m)
		r.eq, r.teq, r.ct, r.md = append(r.eq, eq), append(r.teq, teq), append(r.ct, ct), append(r.md, md)
	}
	return r
}

func (r *rig) process(i int) Process { return r.ni[i].Self() }

// collect takes the packets of a process into the wire, with copies of their data.
func (r *rig) collect(i int) {
	for p := (Packet{}); r.ni[i].Next(&p); {
		b := p.AppendTo(nil)
		q, err := DecodePacket(b)
		require.NoError(r.t, err)
		q.Target = p.Target
		r.wire = append(r.wire, q)
	}
}

// run delivers everything, in order.
func (r *rig) run() {
	for i := range r.ni {
		r.collect(i)
	}
	for len(r.wire) > 0 {
		p := r.wire[0]
		r.wire = r.wire[1:]
		for i, n := range r.ni {
			if p.Kind.isRequest() && p.Kind != KindGet && n.Self() == p.Source {
				require.NoError(r.t, n.Sent(p.ID))
				r.collect(i)
			}
		}
		for i, n := range r.ni {
			if n.Self() == p.Target {
				require.NoError(r.t, n.Deliver(&p))
				r.collect(i)
			}
		}
	}
}

// put runs a put of process 1 to process 0 with data at the start of its memory.
func (r *rig) put(bits uint64, data string, change ...func(*Request)) {
	r.t.Helper()
	copy(r.memory[1], data)
	q := Request{MD: r.md[1], Length: uint64(len(data)), Ack: FullAckReq, Target: r.process(0), MatchBits: bits}
	for _, f := range change {
		f(&q)
	}
	_, err := r.ni[1].Put(&q)
	require.NoError(r.t, err)
	r.run()
}

func (r *rig) get(bits, length uint64) {
	r.t.Helper()
	_, err := r.ni[1].Get(&Request{MD: r.md[1], Length: length, Target: r.process(0), MatchBits: bits})
	require.NoError(r.t, err)
	r.run()
}

// me appends an entry of process 0 that begins at 100 and takes puts and gets of everybody.
func (r *rig) me(list List, m MatchEntry) ME {
	r.t.Helper()
	m.UID = UIDAny
	m.Start += 100
	m.Options |= MEOpPut | MEOpGet | MEEventLinkDisable
	h, err := r.ni[0].MEAppend(0, &m, list)
	require.NoError(r.t, err)
	return h
}

func anyone(bits uint64) MatchEntry {
	return MatchEntry{MatchID: Process{NIDAny, PIDAny}, MatchBits: bits, Length: 16}
}

func (r *rig) events(i int, q EQ) (list []Event) {
	for e := (Event{}); ; {
		err := r.ni[i].EQGet(q, &e)
		if err == EQEmpty {
			return list
		}
		require.NoError(r.t, err)
		list = append(list, e)
	}
}

func (r *rig) target() []Event    { return r.events(0, r.teq[0]) }
func (r *rig) initiator() []Event { return r.events(1, r.eq[1]) }

func kinds(list []Event) (k []EventKind) {
	for _, e := range list {
		k = append(k, e.Kind)
	}
	return k
}

// last is the only event of a kind.
func only(t *testing.T, list []Event, k EventKind) Event {
	t.Helper()
	var found []Event
	for _, e := range list {
		if e.Kind == k {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1, "%v among %v", k, kinds(list))
	return found[0]
}
