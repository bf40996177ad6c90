package rdrp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
)

// postBounce appends the overflow buffer at an address.
func (e *Endpoint) postBounce(start uint64) error {
	e.hasFresh = true
	_, err := e.ni.MEAppend(e.config.Messages, &portals.MatchEntry{
		Start: start, Length: e.config.FirstChunk, UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny),
		IgnoreBits: ^uint64(0), Options: portals.MEOpPut | portals.MEUseOnce | portals.MEEventLinkDisable |
			portals.MEEventUnlinkDisable | portals.MEEventCommDisable,
	}, portals.OverflowList)
	return err
}

// Receive starts a receive. If resources are exhausted, it returns portals.NoSpace and changes
// nothing.
func (e *Endpoint) Receive(m Message) (ID, error) {
	if m.Tag < AnyTag {
		return 0, fmt.Errorf("rdrp: receive with tag %d: expected 0 or more, or AnyTag", m.Tag)
	}
	id, err := e.add(request{Message: m, state: waitMatch})
	if err != nil {
		return 0, err
	}
	r := &e.requests[id]
	bits, ignore := receiveBits(m.Comm, m.Tag)
	bits, ignore = e.plantReceiveBits(r, bits, ignore)
	r.entry, err = e.ni.MEAppend(e.config.Messages, &portals.MatchEntry{
		Start: m.Start, Length: min(m.Length, e.config.FirstChunk), UID: portals.UIDAny, MatchID: portals.Rank(m.Peer),
		MatchBits: bits, IgnoreBits: ignore, UserPtr: uint64(id),
		Options: portals.MEOpPut | portals.MEUseOnce | portals.MEEventLinkDisable | portals.MEEventUnlinkDisable,
	}, portals.PriorityList)
	if err != nil {
		e.drop(id)
		return 0, err
	}
	e.waiting++
	e.hasFresh = true
	return id, nil
}

// Cancel ends a receive that no message has matched. It reports false if it is too late.
func (e *Endpoint) Cancel(id ID) (bool, error) {
	if int(id) >= len(e.requests) {
		return false, fmt.Errorf("rdrp: request %d does not exist", id)
	}
	r := &e.requests[id]
	if r.isSend || r.state != waitMatch {
		return false, nil
	}
	if err := e.ni.MEUnlink(r.entry); errors.Is(err, portals.ArgInvalid) {
		return false, nil // a message used the entry, and its event was not read
	} else if err != nil {
		return false, err
	}
	e.waiting--
	r.state, r.status = done, Status{IsCancelled: true}
	return true, nil
}

// nextArrival reads an event of a message. The layer enables a disabled entry again when it has
// read all events, unless that is pointless: no receive waits, and no entry was appended meanwhile.
// A waiting receive may match another message than the refused one, so the layer then tries again.
func (e *Endpoint) nextArrival(ev *portals.Event) error {
	layer := e.config.Layer
	if layer == nil {
		return e.ni.EQGet(e.arrivals, ev)
	}
	isShort := e.waiting == 0 && !e.hasFresh
	if err := layer.SetShort(e.config.Messages, isShort || e.mistake == AlwaysShort); err != nil {
		return err
	}
	return layer.EQGet(e.config.Messages, ev)
}

// readArrivals reads the events of messages that matched receives.
func (e *Endpoint) readArrivals() error {
	for ev := (portals.Event{}); ; {
		if err := e.nextArrival(&ev); err == portals.EQEmpty {
			return nil
		} else if err != nil {
			return fmt.Errorf("rdrp: events of messages: %w", err)
		}
		if err := e.matched(ID(ev.UserPtr), &ev); err != nil {
			return err
		}
	}
}

// matched handles the first chunk of a message. Software is needed once per message, here: bits,
// size and source of the gets are known only now.
func (e *Endpoint) matched(id ID, ev *portals.Event) error {
	r := &e.requests[id]
	e.waiting--
	if ev.Kind == portals.EventPutOverflow || e.mistake == BounceAsPosted {
		if err := e.emptyBounce(r, ev); err != nil {
			return err
		}
	}
	r.bits = ev.MatchBits
	r.status = Status{
		Source: ev.Initiator.NID, Tag: tagOf(ev.MatchBits), Length: ev.HdrData, IsTruncated: ev.HdrData > r.Length,
		Fail: ev.Fail,
	}
	p := e.plan(ev.HdrData, r.Length)
	if p.count() == 0 || ev.Fail != portals.FailNone {
		r.state = done
		return nil
	}
	r.state = waitGets
	e.fetching = append(e.fetching, id)
	return nil
}

// emptyBounce copies the first chunk from its overflow buffer and posts that again.
func (e *Endpoint) emptyBounce(r *request, ev *portals.Event) error {
	start := ev.Start
	if e.mistake == BounceAsPosted {
		start = e.config.BounceBase
	}
	n := min(ev.MLength, r.Length)
	to, ok := e.memory.Bytes(r.Start, n)
	from, ok2 := e.memory.Bytes(start, n)
	if !ok || !ok2 {
		return fmt.Errorf("rdrp: no memory of %d bytes at %#x or %#x", n, r.Start, start)
	}
	copy(to, from)
	if e.mistake == BounceLost || ev.Kind != portals.EventPutOverflow {
		return nil
	}
	return e.postBounce(start)
}

// fetch posts the gets of matched messages and ends the receives whose gets are complete. A message
// that ends frees resources and its nonce, so the others are tried again.
func (e *Endpoint) fetch() error {
	for again := true; again; {
		again = false
		for i := 0; i < len(e.fetching); {
			ended, err := false, error(nil)
			if !e.mustWait(i) {
				ended, err = e.advance(&e.requests[e.fetching[i]])
			}
			switch {
			case err != nil:
				return err
			case ended:
				e.fetching = slices.Delete(e.fetching, i, i+1)
				again = true
			default:
				i++
			}
		}
	}
	return nil
}

// mustWait reports whether an earlier message without a nonce has equal bits: its entries come
// first in the list of the sender.
func (e *Endpoint) mustWait(at int) bool {
	r := &e.requests[e.fetching[at]]
	if nonceOf(r.bits) != inOrder || e.mistake == NoOrder {
		return false
	}
	return slices.ContainsFunc(e.fetching[:at], func(id ID) bool {
		o := &e.requests[id]
		return o.bits == r.bits && o.status.Source == r.status.Source
	})
}

// advance posts gets that were not posted, and reports whether all are complete.
func (e *Endpoint) advance(r *request) (ended bool, err error) {
	p := e.plan(r.status.Length, r.Length)
	if err := e.post(r, &p); errors.Is(err, portals.NoSpace) {
		return false, nil // the next call of Progress tries again
	} else if err != nil {
		return false, err
	}
	fail, reached, err := e.readCounter(r.ct, e.plantCount(&p))
	if err != nil || !reached {
		return false, err
	}
	if err := errors.Join(e.ni.MDRelease(r.md), e.ni.CTFree(r.ct)); err != nil {
		return false, err
	}
	r.state, r.status.Fail = done, fail
	return true, nil
}

// post posts the triggered gets of a message: the counter of its buffer releases them.
func (e *Endpoint) post(r *request, p *plan) (err error) {
	if r.ct == 0 {
		if r.ct, err = e.ni.CTAlloc(); err != nil {
			return err
		}
	}
	if r.md == 0 {
		r.md, err = e.ni.MDBind(portals.MemoryDescriptor{
			Start: r.Start, Length: r.Length, CT: r.ct, Options: portals.MDEventCTReply,
		})
		if err != nil {
			return err
		}
	}
	for ; r.posted < e.plantCount(p); r.posted++ {
		g := p.get(r.posted)
		get := portals.Request{
			MD: r.md, Length: g.length, Target: portals.Rank(r.status.Source), PT: e.config.Gets, MatchBits: r.bits,
		}
		if g.length > 0 {
			get.LocalOffset = g.offset
		}
		if nonceOf(r.bits) != inOrder {
			get.RemoteOffset = g.offset
		}
		if err := e.ni.TriggeredGet(&get, r.ct, e.plantThreshold(g.threshold)); err != nil {
			return err
		}
	}
	return nil
}
