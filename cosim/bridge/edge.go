package bridge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// An Edge is the traffic of one cycle on a link between a node of the simulator and a node outside
// (Config.Only): a flit, freed buffer entries, or both.
//
// For PostEdge: traffic at the neighbour's end of a link of Node in cycle At, one cycle after the
// neighbour's router sent the flit, or a flit left its input buffer. For Edges: a word that leaves
// Node in cycle At.
type Edge struct {
	At         drivers.Cycle
	Data       uint64 // the flit
	Node       int
	Link, VC   uint8 // link l is port l + 1 of the router
	Flit       bool
	Head, Tail bool  // of a packet
	Freed      uint8 // a bit for each VC with a freed entry
}

const (
	cmdEdge   = 0x100
	cmdStep   = 0x101
	evEdgeOut = 0x140
)

// Fields of a frame's id, as in border.h.
const (
	edgeFlit = 1 << (8 + iota)
	edgeHead
	edgeTail
	edgeVC    = 12
	edgeFreed = 16
	maxLinks  = 6
)

func (e *Edge) id() uint32 {
	id := uint32(e.Link) | uint32(e.VC)<<edgeVC | uint32(e.Freed)<<edgeFreed
	for _, f := range [...]struct {
		set bool
		bit uint32
	}{{e.Flit, edgeFlit}, {e.Head, edgeHead}, {e.Tail, edgeTail}} {
		if f.set {
			id |= f.bit
		}
	}
	return id
}

// PostEdge sends e to the simulator. Edges of a link must be in order of cycles, none before the
// simulator's current cycle.
func (s *Session) PostEdge(e *Edge) {
	s.post(command{typ: cmdEdge, node: uint16(e.Node), id: e.id(), at: e.At, value: e.Data})
}

// Edges returns the traffic that left the nodes in the last Step or ReadStep, by cycle; valid until
// the next.
func (s *Session) Edges() []Edge { return s.edges }

// A Step limits the advance of a simulator with some nodes of a mesh.
type Step struct {
	Deadline drivers.Cycle
	// Slack is the number of cycles that may follow the first in which anything leaves the nodes.
	Slack int
	// Through: do not stop when the simulator is quiet.
	Through bool
}

// RunStep is Run for a simulator with some nodes of a mesh. It also ends when traffic that leaves
// these nodes must be delivered, and when only other nodes and software can cause events
// (Stop.Quiet).
func (s *Session) RunStep(step Step, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: s.now, Fired: stop.Fired[:0]}
	if err := s.BeginStep(step); err != nil {
		return err
	}
	return s.EndStep(stop)
}

// BeginStep starts a RunStep; the caller may do other work until EndStep, but must not post.
func (s *Session) BeginStep(step Step) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	c := command{typ: cmdStep, id: uint32(step.Slack), at: step.Deadline}
	if step.Through {
		c.value = 1
	}
	s.put(c)
	return s.ask()
}

// EndStep waits for the end of BeginStep's step.
func (s *Session) EndStep(stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: s.now, Fired: stop.Fired[:0]}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.edges = s.edges[:0]
	a, err := s.hear(stop)
	stop.Now = s.now
	stop.Quiet, stop.Idle = a.flags&stopQuiet != 0, a.flags&stopIdle != 0
	return err
}

// ReadStep is ReadReg in steps; done reports whether the response has arrived. Otherwise continue
// with resume when the other nodes have reached the same cycle.
func (s *Session) ReadStep(node int, off uint32, step Step, resume bool) (v uint64, done bool, err error) {
	if err := s.enter(); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	c := command{typ: cmdReadReg, node: uint16(node), at: step.Deadline, addr: uint64(off), value: uint64(step.Slack)}
	if resume {
		c.id = readResume
	}
	s.edges = s.edges[:0]
	s.put(c)
	a, err := s.exchange(nil)
	switch {
	case s.broken != nil:
		return 0, false, s.broken
	case a.answered:
		return a.value, true, errors.Join(err, a.readError(node, off))
	case a.flags&stopQuiet != 0:
		return 0, false, s.fail(fmt.Errorf("%w: node %d: register read at 0x%x: the NIC has not answered and does nothing (cycle %d)",
			drivers.ErrProtocol, node, off, s.now))
	}
	return 0, false, err
}

// applyEdge records traffic that left a node.
func (s *Session) applyEdge(e *event) error {
	edge := Edge{
		At: e.cycle, Data: e.b, Node: int(e.node), Link: uint8(e.id), VC: uint8(e.id >> edgeVC & 0xf),
		Flit: e.id&edgeFlit != 0, Head: e.id&edgeHead != 0, Tail: e.id&edgeTail != 0, Freed: uint8(e.id >> edgeFreed),
	}
	bad := func(what string) error {
		return fmt.Errorf("%w: node %d, link %d: %s leaves it in cycle %d", drivers.ErrProtocol, e.node, edge.Link, what, e.cycle)
	}
	switch {
	case !slices.Contains(s.cfg.Only, edge.Node):
		return bad("something that the simulator does not have")
	case edge.Link >= maxLinks || edge.id() != e.id:
		return bad(fmt.Sprintf("something unknown (0x%x)", e.id))
	case e.cycle <= s.now:
		return bad("something of the past")
	case len(s.edges) > 0 && s.edges[len(s.edges)-1].At > e.cycle:
		return bad("something behind what came later")
	}
	s.edges = append(s.edges, edge)
	return nil
}

// onlyArgs returns the simulator's arguments for Config.Only.
func (c *Config) onlyArgs() []string {
	if len(c.Only) == 0 {
		return nil
	}
	list := make([]string, len(c.Only))
	for i, n := range c.Only {
		list[i] = strconv.Itoa(n)
	}
	return []string{"--only", strings.Join(list, ",")}
}

func (c *Config) validateOnly() error {
	for i, n := range c.Only {
		if n < 0 || n >= c.nodes() || slices.Contains(c.Only[:i], n) {
			return fmt.Errorf("%w: node %d of those to simulate: expected each once, of 0..%d", drivers.ErrConfig, n, c.nodes()-1)
		}
	}
	return nil
}
