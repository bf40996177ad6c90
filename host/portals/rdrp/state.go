package rdrp

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
)

// Clone copies the endpoint; ni and memory are the copies of its interface and its memory.
func (e *Endpoint) Clone(ni *portals.NI, memory portals.Memory) *Endpoint {
	c := *e
	c.ni, c.memory = ni, memory
	c.nonces, c.requests, c.free = slices.Clone(e.nonces), slices.Clone(e.requests), slices.Clone(e.free)
	c.sending, c.fetching = slices.Clone(e.sending), slices.Clone(e.fetching)
	c.sequences = maps.Clone(e.sequences)
	return &c
}

// AppendState appends an encoding of the state without that of the interface. Two endpoints with
// one encoding over interfaces with one encoding behave alike.
func (e *Endpoint) AppendState(b []byte) []byte {
	number := func(list ...uint64) {
		for _, v := range list {
			b = binary.AppendUvarint(b, v)
		}
	}
	number(uint64(len(e.nonces)), uint64(len(e.requests)), uint64(len(e.free)), uint64(len(e.sending)),
		uint64(len(e.fetching)))
	for _, v := range e.nonces {
		number(uint64(v))
	}
	for _, list := range [...][]ID{e.free, e.sending, e.fetching} {
		for _, v := range list {
			number(uint64(v))
		}
	}
	for i := range e.requests {
		r := &e.requests[i]
		number(uint64(r.state), uint64(r.events))
		if r.state != unused {
			number(r.Start, r.Length, r.bits, uint64(r.entry), uint64(r.ct), uint64(r.md), r.posted, uint64(r.Peer),
				uint64(r.status.Source), uint64(uint32(r.status.Tag)), r.status.Length, uint64(r.status.Fail))
		}
	}
	return b
}
