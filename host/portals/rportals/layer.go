package rportals

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/host/portals"
)

// Config describes a layer. All processes have the same Peers, Control and Protected.
type Config struct {
	Peers        []portals.Process // all processes, this one too
	Control      int               // index of the portal table entry for control messages
	Protected    []uint8           // indices of the entries that are recovered
	OriginEvents int               // size of the queue for events of operations; at least 2
	MemoryLength uint64            // the address space begins at 0 and is one memory descriptor
}

// Stats count what recovery costs.
type Stats struct {
	Recoveries int // of own entries: PT_DISABLED that was handled
	Refused    int // attempts that a disabled entry refused
	Issued     int // attempts
	Control    int // control messages sent
}

// controlKinds is how many control messages of a peer about one entry can wait to be read.
const controlKinds = 3

// A Layer is the reliability layer of a process over its network interface.
type Layer struct {
	ni        *portals.NI
	config    Config
	self      int
	origin    portals.EQ
	control   portals.EQ
	md        portals.MD // of operations: the whole address space
	controlMD portals.MD // of control messages: no data, no events

	credits  int // events of operations for which the origin queue has room
	attempts int // attempts that may still be started
	targets  []target
	channels []channel // by peer, then by protected entry
	ops      []operation
	free     uint32 // first free operation, 0: none
	ready    []uint32
	pending  []portals.Event // for the program
	stats    Stats
	mistake  Mistake
}

// New opens a layer. It allocates the control entry, both of its event queues and descriptors.
func New(ni *portals.NI, c Config) (*Layer, error) {
	l := &Layer{ni: ni, config: c, self: -1, credits: c.OriginEvents, ops: make([]operation, 1)}
	for i, p := range c.Peers {
		if p == ni.Self() {
			l.self = i
		}
	}
	reserved := controlKinds * len(c.Peers) * len(c.Protected)
	l.attempts = ni.Limits().MaxOperations - reserved
	switch {
	case l.self < 0:
		return nil, fmt.Errorf("rportals: process %v is not among the %d peers", ni.Self(), len(c.Peers))
	case c.OriginEvents < 2:
		return nil, fmt.Errorf("rportals: origin event queue of %d events: a put needs 2", c.OriginEvents)
	case l.attempts < 1:
		return nil, fmt.Errorf("rportals: the interface allows %d operations, control messages need %d of them",
			ni.Limits().MaxOperations, reserved)
	}
	l.channels = make([]channel, len(c.Peers)*len(c.Protected))
	l.targets = make([]target, len(c.Protected))
	return l, l.open(reserved)
}

func (l *Layer) open(controlEvents int) error {
	var errs [6]error
	l.origin, errs[0] = l.ni.EQAlloc(l.config.OriginEvents)
	l.control, errs[1] = l.ni.EQAlloc(max(controlEvents, 1))
	l.md, errs[2] = l.ni.MDBind(portals.MemoryDescriptor{Length: l.config.MemoryLength, EQ: l.origin})
	l.controlMD, errs[3] = l.ni.MDBind(portals.MemoryDescriptor{})
	_, errs[4] = l.ni.PTAlloc(0, l.control, l.config.Control)
	_, errs[5] = l.ni.MEAppend(uint8(l.config.Control), &portals.MatchEntry{
		UID: portals.UIDAny, MatchID: portals.Process{NID: portals.NIDAny, PID: portals.PIDAny},
		IgnoreBits: ^uint64(0), Options: portals.MEOpPut | portals.MEEventLinkDisable,
	}, portals.PriorityList)
	return errors.Join(errs[:]...)
}

// PTAlloc allocates a protected entry with an event queue of its own.
func (l *Layer) PTAlloc(index uint8, events int) error {
	at := l.entry(index)
	if at < 0 {
		return l.notProtected(index)
	}
	eq, err := l.ni.EQAlloc(events)
	if err != nil {
		return err
	}
	if _, err := l.ni.PTAlloc(portals.PTFlowControl, eq, int(index)); err != nil {
		return err
	}
	l.targets[at].eq = eq
	return nil
}

// Stats returns the counts so far.
func (l *Layer) Stats() Stats { return l.stats }

// Idle reports that no operation is in progress, no event waits for the program, and no recovery
// of an own entry is in progress.
func (l *Layer) Idle() bool {
	if len(l.pending) > 0 {
		return false
	}
	for i := range l.channels {
		if l.channels[i].first != 0 {
			return false
		}
	}
	for i := range l.targets {
		if l.targets[i].state != active {
			return false
		}
	}
	return true
}

// entry is the position of a portal table entry among the protected ones, or -1.
func (l *Layer) entry(pt uint8) int {
	for i, p := range l.config.Protected {
		if p == pt {
			return i
		}
	}
	return -1
}

func (l *Layer) notProtected(pt uint8) error {
	return fmt.Errorf("rportals: portal table entry %d is not among the protected ones %v", pt, l.config.Protected)
}

func (l *Layer) channel(peer, entry int) uint32 {
	return uint32(peer*len(l.config.Protected) + entry)
}

// peer is the position of a process, or -1. With logical addressing it is the rank.
func (l *Layer) peer(p portals.Process) int {
	if int64(p.NID) < int64(len(l.config.Peers)) && l.config.Peers[p.NID] == p {
		return int(p.NID)
	}
	for i, q := range l.config.Peers {
		if q == p {
			return i
		}
	}
	return -1
}
