package portals

type entry struct {
	MatchEntry
	list   List
	pt     uint8
	linked bool
	offset uint64 // local offset of an entry that manages it itself
	// pendingHeaders counts the unexpected headers whose data lie in the entry.
	pendingHeaders int
}

// A header is what is kept of a message that arrived in an overflow entry.
type header struct {
	kind                                            Kind
	op                                              Op
	datatype                                        Datatype
	uid                                             uint32
	source                                          Process
	entry                                           ME
	bits, hdrData, rlength, mlength, roffset, start uint64
}

// matchKey is what an entry compares. A non-matching interface compares nothing.
func (n *NI) matchKey(m *MatchEntry) (k key) {
	if n.options&NINoMatching != 0 {
		return key{}
	}
	k = key{bits: m.MatchBits, compared: ^m.IgnoreBits, source: sourceKey(m.MatchID), comparedSource: noSource}
	if m.MatchID.NID == NIDAny {
		k.comparedSource &= 1<<32 - 1
	}
	if m.MatchID.PID == PIDAny || n.options&NIPhysical == 0 {
		k.comparedSource &^= 1<<32 - 1
	}
	return k
}

func (n *NI) checkEntry(pt uint8, m *MatchEntry) (*portal, error) {
	p := n.portal(pt)
	switch {
	case p == nil:
		return nil, invalid("portal table entry %d is not allocated", pt)
	case m.CT != 0 && n.cts.get(uint32(m.CT)) == nil:
		return nil, invalid("list entry: counter handle %#x is stale", uint32(m.CT))
	case p.options&PTOnlyUseOnce != 0 && m.Options&MEUseOnce == 0:
		return nil, invalid("list entry: portal table entry %d takes only entries for one use", pt)
	case p.options&PTOnlyTruncate != 0 && m.Options&MENoTruncate != 0:
		return nil, invalid("list entry: portal table entry %d takes only entries that truncate", pt)
	}
	if _, ok := n.memory.Bytes(m.Start, m.Length); !ok {
		return nil, invalid("list entry: no memory of %d bytes at %#x", m.Length, m.Start)
	}
	return p, nil
}

// MEAppend is PtlMEAppend (3.12.2) and PtlLEAppend (3.11.2). Searching the unexpected headers and
// linking are one step: no message arrives in between. If an entry for one use finds a header, it
// is consumed at once, and its handle is stale when MEAppend returns.
func (n *NI) MEAppend(pt uint8, m *MatchEntry, list List) (ME, error) {
	p, err := n.checkEntry(pt, m)
	if err != nil {
		return 0, err
	}
	if list > OverflowList {
		return 0, invalid("list %d: expected PriorityList or OverflowList", list)
	}
	if p.lists[PriorityList].live+p.lists[OverflowList].live >= n.limits.MaxListSize {
		return 0, ListTooLong
	}
	h, ok := n.entries.add(entry{MatchEntry: *m, list: list, pt: pt})
	if !ok {
		return 0, NoSpace
	}
	if m.CT != 0 {
		n.cts.at(uint32(m.CT)).users++
	}
	e, k := n.entries.at(h), n.matchKey(m)
	k.item = h
	if list == PriorityList && p.unexpected.live > 0 && n.consumeHeaders(p, e, &k) {
		n.autoUnlinked(p, e, h)
		return ME(h), nil
	}
	p.lists[list].add(k)
	e.linked = true
	if e.Options&MEEventLinkDisable == 0 {
		n.raise(p.eq, &Event{Kind: EventLink, PT: pt, List: list, Start: m.Start, UserPtr: m.UserPtr})
	}
	return ME(h), nil
}

// consumeHeaders gives an entry that is appended the unexpected headers that it matches, the oldest
// first, and reports whether that uses it up. An entry for several uses takes all of them.
func (n *NI) consumeHeaders(p *portal, e *entry, k *key) (usedUp bool) {
	for at := p.unexpected.headerFor(0, k); at >= 0; at = p.unexpected.headerFor(0, k) {
		hh := p.unexpected.keys[at].item
		h := *n.headers.at(hh)
		n.overflowEvent(p, &e.MatchEntry, e.pt, &h)
		n.countOverflow(&e.MatchEntry, &h)
		n.dropHeader(p, hh)
		if e.Options&(MEManageLocal|MELocalIncUHRLength) == MEManageLocal|MELocalIncUHRLength {
			e.offset += min(h.rlength, e.Length-e.offset)
		}
		if e.Options&MEUseOnce != 0 || e.belowMinFree() {
			return true
		}
	}
	return false
}

func (e *entry) belowMinFree() bool {
	return e.Options&MEManageLocal != 0 && e.Length-e.offset < e.MinFree
}

func (n *NI) overflowEvent(p *portal, m *MatchEntry, pt uint8, h *header) {
	if m.Options&(MEEventOverDisable|MEEventSuccessDisable) != 0 {
		return
	}
	ev := h.event(h.kind.targetEvent()+1, pt, OverflowList) // each overflow kind follows its plain kind
	ev.UserPtr = m.UserPtr
	n.raise(p.eq, &ev)
}

func (h *header) event(kind EventKind, pt uint8, list List) Event {
	return Event{
		Kind: kind, PT: pt, List: list, UID: h.uid, Initiator: h.source, Op: h.op, Datatype: h.datatype,
		MatchBits: h.bits, RLength: h.rlength, MLength: h.mlength, RemoteOffset: h.roffset, Start: h.start,
		HdrData: h.hdrData,
	}
}

func (n *NI) countOverflow(m *MatchEntry, h *header) {
	if m.Options&MEEventCTOverflow != 0 {
		n.countEvent(m.CT, FailNone, m.Options&MEEventCTBytes != 0, h.mlength)
	}
}

// dropHeader removes an unexpected header. The last one of an entry that was unlinked frees it.
func (n *NI) dropHeader(p *portal, hh uint32) {
	owner := n.headers.at(hh).entry
	p.unexpected.remove(hh)
	n.headers.remove(hh)
	e := n.entries.at(uint32(owner))
	if e.pendingHeaders--; e.pendingHeaders == 0 && !e.linked {
		n.autoFreed(p, e, uint32(owner))
	}
}

// unlinkUsed unlinks an entry that is used up.
func (n *NI) unlinkUsed(p *portal, e *entry, h uint32) {
	p.lists[e.list].remove(h)
	e.linked = false
	n.autoUnlinked(p, e, h)
}

func (n *NI) autoUnlinked(p *portal, e *entry, h uint32) {
	if e.Options&MEEventUnlinkDisable == 0 {
		n.raise(p.eq, &Event{Kind: EventAutoUnlink, PT: e.pt, List: e.list, Start: e.Start, UserPtr: e.UserPtr})
	}
	switch {
	case e.list == PriorityList:
		n.releaseEntry(e, h)
	case e.pendingHeaders == 0:
		n.autoFreed(p, e, h)
	}
}

func (n *NI) autoFreed(p *portal, e *entry, h uint32) {
	if e.Options&MEEventUnlinkDisable == 0 {
		n.raise(p.eq, &Event{Kind: EventAutoFree, PT: e.pt, List: e.list, Start: e.Start, UserPtr: e.UserPtr})
	}
	n.releaseEntry(e, h)
}

func (n *NI) releaseEntry(e *entry, h uint32) {
	if e.CT != 0 {
		n.cts.at(uint32(e.CT)).users--
	}
	n.entries.remove(h)
}

// MEUnlink is PtlMEUnlink (3.12.3) and PtlLEUnlink (3.11.3). It raises no event. An overflow entry
// with unexpected headers is in use.
func (n *NI) MEUnlink(h ME) error {
	e := n.entries.get(uint32(h))
	switch {
	case e == nil || !e.linked:
		return invalid("list entry handle %#x is stale", uint32(h))
	case e.pendingHeaders > 0:
		return InUse
	}
	n.pts[e.pt].lists[e.list].remove(uint32(h))
	n.releaseEntry(e, uint32(h))
	return nil
}

// MESearch is PtlMESearch (3.12.4) and PtlLESearch (3.11.4). It never changes a counter.
func (n *NI) MESearch(pt uint8, m *MatchEntry, op SearchOp) error {
	p, err := n.checkEntry(pt, m)
	if err != nil {
		return err
	}
	k := n.matchKey(m)
	at := p.unexpected.headerFor(0, &k)
	switch {
	case at < 0:
		if m.Options&MEEventCommDisable == 0 {
			n.raise(p.eq, &Event{Kind: EventSearch, PT: pt, Fail: FailNoMatch, UserPtr: m.UserPtr})
		}
	case op == SearchOnly:
		if m.Options&(MEEventCommDisable|MEEventSuccessDisable) == 0 {
			ev := n.headers.at(p.unexpected.keys[at].item).event(EventSearch, pt, OverflowList)
			ev.UserPtr = m.UserPtr
			n.raise(p.eq, &ev)
		}
	default:
		for ; at >= 0; at = p.unexpected.headerFor(0, &k) {
			hh := p.unexpected.keys[at].item
			h := *n.headers.at(hh)
			n.overflowEvent(p, m, pt, &h)
			n.dropHeader(p, hh)
			if m.Options&MEUseOnce != 0 {
				break
			}
		}
	}
	return nil
}
