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
// embeds the communicator of the world. The ranks of a communicator are numbered from 0 in the
// order of its members.
//
// Dup and Split make communicators with contexts of their own, one for messages and one for
// collectives. Messages never cross contexts, so collectives of different communicators may
// overlap. A communicator that Group makes has no contexts of its own, see there.
type Comm struct {
	rank     *Rank
	id, size int
	members  []int                   // world ranks; nil: all
	ids      []int32                 // by world rank, the inverse of members; -1: not a member
	context  uint16                  // of messages
	inner    uint16                  // of collectives
	started  uint32                  // number of nonblocking collectives begun
	fixed    [collectives]*algorithm // by SetAlgorithm
}

// The header of a message has 16 bits for its context. Contexts of communicators are allocated in
// pairs.
const (
	contextWorld   = 0
	contextInner   = 1 // collectives of the world and of groups
	contextFirst   = 2
	contextService = math.MaxUint16 - 3
	contextFreed   = math.MaxUint16 - 1
	contextNone    = math.MaxUint16
)

// Undefined is the color of a rank that Split leaves out.
const Undefined = -1

// ID returns the rank's number in the communicator, Size the number of its members.
func (c *Comm) ID() int   { return c.id }
func (c *Comm) Size() int { return c.size }

// Group makes a communicator of the given ranks without communication. This rank must be among
// them, and all members must list the same ranks in the same order. Because the members have not
// agreed on a context, a group cannot send messages (make a communicator of it with Dup), and its
// collectives share a context with those of the world and of all groups: ranks in several groups
// must call their collectives in one order.
func (r *Rank) Group(members []int) (*Comm, error) {
	id := slices.Index(members, r.ID())
	if id < 0 {
		return nil, fmt.Errorf("%w: group of rank %d does not contain it: expected it among the members", drivers.ErrConfig, r.ID())
	}
	seen := make([]bool, r.Size())
	for _, m := range members {
		if m < 0 || m >= r.Size() || seen[m] {
			return nil, fmt.Errorf("%w: group with rank %d: expected ranks 0 to %d, each once", drivers.ErrConfig, m, r.Size()-1)
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
	context, err := c.rank.takeContexts(int(binary.LittleEndian.Uint64(b)))
	if err != nil {
		return nil, err
	}
	d := *c
	d.context, d.inner, d.started = context, context+1, 0
	return &d, nil
}

// Split makes a communicator of all members with the same color, ordered by key and, for equal
// keys, by their number in c. All members call it; members with a color below 0 receive nil.
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
	context, err := c.rank.takeContexts(next)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(said(a, 1), said(b, 1)) })
	for i := range ids {
		ids[i] = c.World(ids[i])
	}
	return c.rank.newComm(c, ids, context, context+1), nil
}

// takeContexts allocates two contexts. next is the maximum over the ranks that agreed, so none of
// them uses a context from there on. Communicators without a common rank may have equal contexts.
func (r *Rank) takeContexts(next int) (uint16, error) {
	if next < contextFirst || next >= contextService { // the value comes from other ranks
		return 0, fmt.Errorf("%w: no context for another communicator: rank has %d, its maximum; "+
			"free some, the latest first", drivers.ErrConfig, (contextService-contextFirst)/2)
	}
	r.live = append(r.live, uint16(next))
	r.contexts = next + 2
	return uint16(next), nil
}

// Free releases a communicator that Dup or Split has made. All members call it, after their
// requests in it are done and all messages in it have been received. It sends nothing. The contexts
// are reused when all later communicators of this rank have been freed, too.
func (c *Comm) Free() error {
	r := c.rank
	at := slices.Index(r.live, c.context)
	if at < 0 {
		return fmt.Errorf("%w: Free of a communicator: expected one of Dup or Split that has not been freed", drivers.ErrConfig)
	}
	for _, m := range r.Unmatched() {
		if m.Comm == c.context || m.Comm == c.inner {
			return fmt.Errorf("%w: Free of a communicator with a pending message from world rank %d with tag %d: receive it first", drivers.ErrConfig, m.Source, m.Tag)
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

// World returns the world rank of rank id of the communicator.
func (c *Comm) World(id int) int {
	if c.members == nil {
		return id
	}
	return c.members[id]
}

// local is the inverse of World.
func (c *Comm) local(world int) int {
	if c.members == nil {
		return world
	}
	return int(c.ids[world])
}
