package portals

import "slices"

// An NI is a network interface of a process (3.6): the complete state of its objects, and nothing
// else. See the package documentation for how it is driven.
type NI struct {
	self    Process
	uid     uint32
	options NIOptions
	limits  Limits
	memory  Memory
	status  Status

	pts      []portal
	eqs      pool[eventQueue]
	cts      pool[counter]
	mds      pool[descriptor]
	entries  pool[entry]
	headers  pool[header]
	ops      pool[operation]
	triggers pool[trigger]

	out    packetQueue
	firing []uint32 // triggered operations that are released but not started
	active bool     // firing is being worked off
}

type portal struct {
	allocated, enabled bool
	options            PTOptions
	eq                 EQ
	lists              [2]matchList
	unexpected         matchList
}

type descriptor struct {
	MemoryDescriptor
	pending int // operations, also triggered ones that were not started
}

// NewNI opens an interface (PtlNIInit, 3.6.2) of process self with user uid.
func NewNI(o NIOptions, self Process, uid uint32, limits Limits, m Memory) (*NI, error) {
	if o > NINoMatching|NIPhysical {
		return nil, invalid("interface options %#x: expected a combination of NINoMatching and NIPhysical", o)
	}
	if self.NID == NIDAny || o&NIPhysical != 0 && self.PID == PIDAny || o&NIPhysical == 0 && self.PID != 0 {
		return nil, invalid("process %d:%d is a wildcard or, with logical addressing, has a PID", self.NID, self.PID)
	}
	if limits.MaxPTs < 1 || limits.MaxPTs > 256 || limits.MaxOperations > 1<<indexBits ||
		limits.MaxEntries > 1<<indexBits || limits.MaxUnexpectedHeaders > 1<<indexBits {
		return nil, invalid("limits: expected 1 to 256 portal table entries and at most %d objects of a kind", 1<<indexBits)
	}
	n := &NI{self: self, uid: uid, options: o, limits: limits, memory: m, pts: make([]portal, limits.MaxPTs)}
	n.eqs.limit, n.cts.limit, n.mds.limit = limits.MaxEQs, limits.MaxCTs, limits.MaxMDs
	n.entries.limit, n.headers.limit = limits.MaxEntries, limits.MaxUnexpectedHeaders
	n.ops.limit, n.triggers.limit = limits.MaxOperations, limits.MaxTriggeredOps
	return n, nil
}

// Limits is what PtlNIInit returns of the limits (3.6.1).
func (n *NI) Limits() Limits { return n.limits }

// Self is PtlGetId (3.9).
func (n *NI) Self() Process { return n.self }

// Status is PtlNIStatus (3.6.4) for all registers.
func (n *NI) Status() Status { return n.status }

// Number tells the four interfaces of a process apart on the wire.
func (n *NI) Number() uint8 { return uint8(n.options) }

// PTAlloc is PtlPTAlloc (3.7.1); index is the wanted entry or PTAny.
func (n *NI) PTAlloc(o PTOptions, eq EQ, index int) (uint8, error) {
	q := n.eqs.get(uint32(eq))
	switch {
	case eq != 0 && q == nil:
		return 0, invalid("event queue handle %#x is stale", uint32(eq))
	case eq == 0 && o&PTFlowControl != 0:
		return 0, PTEQNeeded
	case index >= len(n.pts) || index < PTAny:
		return 0, invalid("portal table index %d: expected 0 to %d, or PTAny", index, len(n.pts)-1)
	case index == PTAny:
		index = slices.IndexFunc(n.pts, func(p portal) bool { return !p.allocated })
		if index < 0 {
			return 0, PTFull
		}
	case n.pts[index].allocated:
		return 0, PTInUse
	}
	if q != nil {
		q.users++
	}
	n.pts[index] = portal{allocated: true, enabled: o&PTAllocDisabled == 0, options: o, eq: eq}
	return uint8(index), nil
}

func (n *NI) portal(index uint8) *portal {
	if int(index) >= len(n.pts) || !n.pts[index].allocated {
		return nil
	}
	return &n.pts[index]
}

// PTFree is PtlPTFree (3.7.2). An entry whose lists are not empty is in use.
func (n *NI) PTFree(index uint8) error {
	p := n.portal(index)
	if p == nil {
		return invalid("portal table entry %d is not allocated", index)
	}
	if p.lists[PriorityList].live > 0 || p.lists[OverflowList].live > 0 || p.unexpected.live > 0 {
		return PTInUse
	}
	if p.eq != 0 {
		n.eqs.at(uint32(p.eq)).users--
	}
	*p = portal{}
	return nil
}

// PTEnable is PtlPTEnable (3.7.4).
func (n *NI) PTEnable(index uint8) error { return n.setEnabled(index, true) }

// PTDisable is PtlPTDisable (3.7.3). A message is delivered within one call of Deliver, so there is
// none in progress to wait for. An explicit disable raises no event.
func (n *NI) PTDisable(index uint8) error { return n.setEnabled(index, false) }

func (n *NI) setEnabled(index uint8, on bool) error {
	p := n.portal(index)
	if p == nil {
		return invalid("portal table entry %d is not allocated", index)
	}
	p.enabled = on
	return nil
}

// PTEnabled tells whether an entry takes messages.
func (n *NI) PTEnabled(index uint8) bool { p := n.portal(index); return p != nil && p.enabled }

// MDBind is PtlMDBind (3.10.3).
func (n *NI) MDBind(d MemoryDescriptor) (MD, error) {
	if _, ok := n.memory.Bytes(d.Start, d.Length); !ok {
		return 0, invalid("memory descriptor: no memory of %d bytes at %#x", d.Length, d.Start)
	}
	q, c := n.eqs.get(uint32(d.EQ)), n.cts.get(uint32(d.CT))
	if d.EQ != 0 && q == nil || d.CT != 0 && c == nil {
		return 0, invalid("memory descriptor: the handle of its event queue or counter is stale")
	}
	h, ok := n.mds.add(descriptor{MemoryDescriptor: d})
	if !ok {
		return 0, NoSpace
	}
	if q != nil {
		q.users++
	}
	if c != nil {
		c.users++
	}
	return MD(h), nil
}

// MDRelease is PtlMDRelease (3.10.4). A descriptor with pending operations is in use.
func (n *NI) MDRelease(h MD) error {
	d := n.mds.get(uint32(h))
	if d == nil {
		return invalid("memory descriptor handle %#x is stale", uint32(h))
	}
	if d.pending > 0 {
		return InUse
	}
	if d.EQ != 0 {
		n.eqs.at(uint32(d.EQ)).users--
	}
	if d.CT != 0 {
		n.cts.at(uint32(d.CT)).users--
	}
	n.mds.remove(uint32(h))
	return nil
}
