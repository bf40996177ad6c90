package host

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// A Comm is a communicator: ranks that exchange messages and run collectives together. Every Rank
// embeds that of the whole world. Inside a communicator ranks are numbered from 0 in the order of
// its members.
//
// Dup and Split make communicators with contexts of their own, one for messages and one for
// collectives: nothing that is sent in one of them is ever received in another, so collectives of
// different ones may overlap. What Group makes has none, see there.
type Comm struct {
	rank     *Rank
	id, size int
	members  []int                   // world ranks; nil: all
	ids      []int32                 // by world rank, what members says the other way round; -1: not a member
	context  uint16                  // of messages
	inner    uint16                  // of collectives
	started  uint32                  // collectives that do not wait, so far
	fixed    [collectives]*algorithm // by SetAlgorithm
}

// Contexts. The header has room for 65536 of them; those of communicators come in pairs.
const (
	contextWorld = 0
	contextInner = 1 // of the world's collectives, and of groups'
	contextFirst = 2
	contextFreed = math.MaxUint16 - 1
	contextNone  = math.MaxUint16
)

// Undefined is the color of a rank that Split leaves out.
const Undefined = -1

// ID is the rank's number in the communicator, Size that of its members.
func (c *Comm) ID() int   { return c.id }
func (c *Comm) Size() int { return c.size }

// Group makes a group of the given ranks, which this one must be among. It exchanges nothing: all
// members must name the same ranks in the same order. So nothing has agreed on a context for it,
// and its collectives share one with those of the world and of all groups: they must run in one
// order at all ranks that take part in several. Messages need a communicator: Dup of the group.
func (r *Rank) Group(members []int) (*Comm, error) {
	id := slices.Index(members, r.ID())
	if id < 0 {
		return nil, fmt.Errorf("%w: a group without rank %d, which makes it: expected it among the members", drivers.ErrConfig, r.ID())
	}
	seen := make([]bool, r.Size())
	for _, m := range members {
		if m < 0 || m >= r.Size() || seen[m] {
			return nil, fmt.Errorf("%w: rank %d in a group: expected ranks 0 to %d, each once", drivers.ErrConfig, m, r.Size()-1)
		}
		seen[m] = true
	}
	return r.newComm(&r.Comm, members, contextNone, contextInner), nil
}

func (r *Rank) newComm(from *Comm, members []int, context, inner uint16) *Comm {
	c := &Comm{rank: r, size: len(members), members: members, ids: make([]int32, r.size), context: context, inner: inner, fixed: from.fixed}
	for i := range c.ids {
		c.ids[i] = -1
	}
	for i, m := range members {
		c.ids[m] = int32(i)
	}
	c.id = int(c.ids[r.id])
	return c
}

// Dup makes a communicator of the same ranks with contexts of its own. All members call it.
func (c *Comm) Dup() (*Comm, error) {
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, uint64(c.rank.contexts))
	if err := c.Allreduce(b, MaxInt64); err != nil {
		return nil, err
	}
	context, err := c.rank.agreed(int(binary.LittleEndian.Uint64(b)))
	if err != nil {
		return nil, err
	}
	d := *c
	d.context, d.inner, d.started = context, context+1, 0
	return &d, nil
}

// Split makes a communicator of all members that name the same color, in the order of their keys;
// of equal keys, in the order of c. All members call it; those whose color is below 0 get nil.
func (c *Comm) Split(color, key int) (*Comm, error) {
	const each = 3 * 8
	mine, all := make([]byte, each), make([]byte, each*c.size)
	for i, v := range []int{color, key, c.rank.contexts} {
		binary.LittleEndian.PutUint64(mine[8*i:], uint64(int64(v)))
	}
	if err := c.Allgather(mine, all); err != nil {
		return nil, err
	}
	said := func(id, i int) int { return int(int64(binary.LittleEndian.Uint64(all[each*id+8*i:]))) }
	next := 0
	var ids []int
	for id := range c.size {
		next = max(next, said(id, 2))
		if color >= 0 && said(id, 0) == color {
			ids = append(ids, id)
		}
	}
	if color < 0 {
		return nil, nil
	}
	context, err := c.rank.agreed(next)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(said(a, 1), said(b, 1)) })
	for i := range ids {
		ids[i] = c.World(ids[i])
	}
	return c.rank.newComm(c, ids, context, context+1), nil
}

// agreed takes two contexts that none of the ranks which agreed on next is in: next is above all
// that any of them has. Communicators without a rank in common may have the same ones.
func (r *Rank) agreed(next int) (uint16, error) {
	if next < contextFirst || next >= contextFreed-1 { // other ranks had a say in it
		return 0, fmt.Errorf("%w: a communicator more than the %d that a rank can have: give some back with Free, the latest first", drivers.ErrConfig, (contextFreed-contextFirst)/2)
	}
	r.live = append(r.live, uint16(next))
	r.contexts = next + 2
	return uint16(next), nil
}

// Free ends the use of a communicator that Dup or Split has made. All members call it, when their
// requests in it are done and they have received all that was sent to them in it. It sends nothing.
// The contexts are given out again when those that were made later, and that this rank still has,
// are given back, too.
func (c *Comm) Free() error {
	r := c.rank
	at := slices.Index(r.live, c.context)
	if at < 0 {
		return fmt.Errorf("%w: freeing a communicator that neither Dup nor Split has made, or that was freed", drivers.ErrConfig)
	}
	for _, m := range r.Unmatched() {
		if m.Comm == c.context || m.Comm == c.inner {
			return fmt.Errorf("%w: freeing a communicator with a message from rank %d (of the world) with tag %d that was not received", drivers.ErrConfig, m.Source, m.Tag)
		}
	}
	r.live = slices.Delete(r.live, at, at+1)
	r.contexts = contextFirst
	for _, context := range r.live {
		r.contexts = max(r.contexts, int(context)+2)
	}
	c.context, c.inner = contextFreed, contextFreed
	return nil
}

// World is the number in the world of rank id of the communicator.
func (c *Comm) World(id int) int {
	if c.members == nil {
		return id
	}
	return c.members[id]
}

// local is World the other way round.
func (c *Comm) local(world int) int {
	if c.members == nil {
		return world
	}
	return int(c.ids[world])
}
