package velo

import (
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// A Directory says where the processes of a world live. One serves all of them, which
// keeps it in the cache.
type Directory struct {
	addrs []Addr
	ranks []int32 // by id of the source; -1: nobody lives there
}

// NewDirectory makes a directory of a world whose rank i lives at addrs[i].
func NewDirectory(addrs []Addr) *Directory {
	top := 0
	for _, a := range addrs {
		top = max(top, a.id())
	}
	d := &Directory{addrs: addrs, ranks: make([]int32, top+1)}
	for i := range d.ranks {
		d.ranks[i] = -1
	}
	for rank, a := range addrs {
		d.ranks[a.id()] = int32(rank)
	}
	return d
}

func (a Addr) id() int { return a.Node<<regs.VPIDW | a.VPID }

// rankOf is the sender of a packet, or -1.
func (d *Directory) rankOf(h mailbox.Header) int {
	id := Addr{Node: int(h.SrcNode), VPID: int(h.SrcVPID)}.id()
	if id >= len(d.ranks) {
		return -1
	}
	return int(d.ranks[id])
}
