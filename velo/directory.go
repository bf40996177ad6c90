package velo

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// A Directory maps ranks to locations and back. All endpoints of a world share one, so that it
// stays in the cache.
type Directory struct {
	addrs []Addr
	ranks []int32 // by id of the source; -1: no process
}

// NewDirectory returns the directory of a world whose rank i is at addrs[i].
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

// check verifies that a NIC can reach all nodes of the directory. Some devices have fewer nodes
// than the address of a send can express.
func (d *Directory) check(dev drivers.Device) error {
	top := (len(d.ranks) - 1) >> regs.VPIDW
	if top < regs.NodeMax {
		return nil
	}
	v, err := dev.ReadReg(regs.Params)
	if n := int(regs.ParamsNodes.Of(v)); err == nil && n > 0 && n <= regs.NodeMax {
		err = fmt.Errorf("%w: a world with node %d: this device has nodes 0 to %d", drivers.ErrConfig, top, n-1)
	}
	return err
}

func (a Addr) id() int { return a.Node<<regs.VPIDW | a.VPID }

// rankOf returns the rank that sent a packet, or -1.
func (d *Directory) rankOf(h mailbox.Header) int {
	id := Addr{Node: int(h.SrcNode), VPID: int(h.SrcVPID)}.id()
	if id >= len(d.ranks) {
		return -1
	}
	return int(d.ranks[id])
}
