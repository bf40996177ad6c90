package rdrp

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rportals"
)

// Clone copies the endpoint; ni, memory and layer are the copies of what it was opened with.
func (e *Endpoint) Clone(ni *portals.NI, memory portals.Memory, layer *rportals.Layer) *Endpoint {
	c := *e
	c.ni, c.memory, c.config.Layer = ni, memory, layer
	c.nonces, c.requests, c.free = slices.Clone(e.nonces), slices.Clone(e.requests), slices.Clone(e.free)
	c.sending, c.fetching = slices.Clone(e.sending), slices.Clone(e.fetching)
	c.sequences = maps.Clone(e.sequences)
	return &c
}

// AppendState appends an encoding of the state without that of the interface. Two endpoints with
// one encoding over interfaces and layers with one encoding behave alike.
func (e *Endpoint) AppendState(b []byte) []byte {
	number := func(list ...uint64) {
		for _, v := range list {
			b = binary.AppendUvarint(b, v)
		}
	}
	number(uint64(len(e.nonces)), uint64(len(e.requests)), uint64(len(e.free)), uint64(len(e.sending)),
		uint64(len(e.fetching)))
	if e.hasFresh {
		number(1)
	} else {
		number(0)
	}
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
