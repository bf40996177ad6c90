package host

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// A Comm is a group of ranks that run collectives together. Every Rank embeds
// that of the whole world. Inside a group ranks are numbered from 0 in the order
// of its members.
//
// Groups that share ranks may be used in turn: messages of a pair do not
// overtake, and both run the collectives that both take part in in the same order.
type Comm struct {
	rank     *Rank
	id, size int
	members  []int // world ranks; nil: all
}

// ID is the rank's number in the group, Size that of its members.
func (c *Comm) ID() int   { return c.id }
func (c *Comm) Size() int { return c.size }

// Group makes a group of the given ranks, which this one must be among. It
// exchanges nothing: all members must name the same ranks in the same order.
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
	return &Comm{rank: r, id: id, size: len(members), members: members}, nil
}

// World is the number in the world of rank id of the group.
func (c *Comm) World(id int) int {
	if c.members == nil {
		return id
	}
	return c.members[id]
}

func (c *Comm) collIsend(to, tag int, b []byte) (*Request, error) {
	return c.rank.isend(c.World(to), tag, commCollective, b)
}

func (c *Comm) collSend(to, tag int, b []byte) error {
	return c.rank.send(c.World(to), tag, commCollective, b)
}

func (c *Comm) collRecv(from, tag int, b []byte) error {
	_, err := c.rank.recv(c.World(from), tag, commCollective, b)
	return err
}

// exchange sends one message and receives another at the same time.
func (c *Comm) exchange(tag, to int, out []byte, from int, in []byte) error {
	q, err := c.rank.irecv(c.World(from), tag, commCollective, in)
	if err != nil {
		return err
	}
	if err := c.collSend(to, tag, out); err != nil {
		return err
	}
	_, err = c.rank.waitFor(q)
	return err
}
