package rportals

import (
	"encoding/binary"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
)

// Clone copies the layer; ni is the copy of its interface.
func (l *Layer) Clone(ni *portals.NI) *Layer {
	c := *l
	c.ni = ni
	c.targets, c.channels, c.ops = slices.Clone(l.targets), slices.Clone(l.channels), slices.Clone(l.ops)
	c.ready, c.pending = slices.Clone(l.ready), slices.Clone(l.pending)
	return &c
}

// AppendState appends an encoding of the state without that of the interface. Two layers with one
// encoding over interfaces with one encoding behave alike. Counts of Stats are output, not state.
func (l *Layer) AppendState(b []byte) []byte {
	number := func(list ...uint64) {
		for _, v := range list {
			b = binary.AppendUvarint(b, v)
		}
	}
	number(uint64(l.credits), uint64(l.attempts), uint64(l.free), uint64(len(l.ready)), uint64(len(l.pending)))
	for _, at := range l.ready {
		number(uint64(at))
	}
	for i := range l.pending {
		e := &l.pending[i]
		number(uint64(e.Kind), uint64(e.Fail), e.UserPtr, e.MLength, e.RemoteOffset)
	}
	for i := range l.targets {
		t := &l.targets[i]
		number(uint64(t.state), uint64(t.missing), uint64(t.epoch), flag(t.isShort))
	}
	for i := range l.channels {
		c := &l.channels[i]
		number(uint64(c.first), uint64(c.last), uint64(c.unissued), uint64(c.outstanding), uint64(c.epoch),
			flag(c.isHeld)|flag(c.isPaused)<<1|flag(c.ackPending)<<2|flag(c.isReady)<<3)
	}
	for i := range l.ops {
		o := &l.ops[i]
		number(uint64(o.state), uint64(o.prev), uint64(o.next))
		if o.state != opFree {
			number(uint64(o.channel), flag(o.isGet)|flag(o.sent)<<1, uint64(o.request.UserPtr), o.request.HdrData,
				uint64(o.answer.Kind), uint64(o.answer.Fail), o.answer.MLength, o.answer.RemoteOffset)
		}
	}
	return b
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}
