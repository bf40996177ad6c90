package world

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// A Location is where a rank lives.
type Location struct {
	Host   string `json:"host,omitempty"` // the machine that its program runs on; empty: this one
	Node   int    `json:"node"`
	VPID   int    `json:"vpid"`
	Domain uint16 `json:"domain,omitempty"` // protection domain; 0: process.DefaultDomain
}

// A Directory says where the ranks of a world live.
type Directory []Location

// Even is the directory of procs ranks on each of some nodes, node by node.
func Even(nodes, procs int) Directory {
	d := make(Directory, nodes*procs)
	for r := range d {
		d[r] = Location{Node: r / procs, VPID: r % procs}
	}
	return d
}

// Check tells what makes a directory impossible.
func (d Directory) Check() error {
	at := make(map[velo.Addr]int, len(d))
	for r, p := range d {
		a := velo.Addr{Node: p.Node, VPID: p.VPID}
		other, taken := at[a]
		switch {
		case p.Node < 0 || p.Node >= regs.HeaderNodes || p.VPID < 0 || p.VPID >= regs.VPIDs:
			return fmt.Errorf("%w: rank %d lives on node %d as process %d: expected nodes 0 to %d and processes 0 to %d",
				drivers.ErrConfig, r, p.Node, p.VPID, regs.HeaderNodes-1, regs.VPIDs-1)
		case taken:
			return fmt.Errorf("%w: ranks %d and %d both live on node %d as process %d", drivers.ErrConfig, other, r, p.Node, p.VPID)
		case p.Domain != d[0].Domain:
			return fmt.Errorf("%w: rank %d is of domain %d, rank 0 of %d: they could not reach each other", drivers.ErrConfig, r, p.Domain, d[0].Domain)
		}
		at[a] = r
	}
	return nil
}

// Addrs is the directory as package velo wants it.
func (d Directory) Addrs() []velo.Addr {
	list := make([]velo.Addr, len(d))
	for r, p := range d {
		list[r] = velo.Addr{Node: p.Node, VPID: p.VPID}
	}
	return list
}

func (d Directory) peers() []rma.Peer {
	list := make([]rma.Peer, len(d))
	for r, p := range d {
		list[r] = rma.Peer{Node: p.Node, VPID: p.VPID}
	}
	return list
}

// seats numbers the ranks of each node, and gives how many live on the fullest; of mine only, if
// that is not nil.
func (d Directory) seats(mine []int) (seat []int, most int) {
	seat = make([]int, len(d))
	on := map[int]int{}
	for r, p := range d {
		if mine != nil && !slices.Contains(mine, r) {
			continue
		}
		seat[r] = on[p.Node]
		on[p.Node]++
		most = max(most, on[p.Node])
	}
	return seat, most
}
