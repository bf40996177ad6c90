package world

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// A Location is the node and the process slot (VPID) of a rank.
type Location struct {
	Host   string `json:"host,omitempty"` // machine that runs the rank's program; empty: this machine
	Node   int    `json:"node"`
	VPID   int    `json:"vpid"`
	Domain uint16 `json:"domain,omitempty"` // protection domain; 0: process.DefaultDomain
}

// A Directory holds the Location of every rank, by rank.
type Directory []Location

// Even returns a directory with procs ranks per node, numbered node by node.
func Even(nodes, procs int) Directory {
	d := make(Directory, nodes*procs)
	for r := range d {
		d[r] = Location{Node: r / procs, VPID: r % procs}
	}
	return d
}

// Check reports locations that are out of range, used twice, or in different protection domains.
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

// Addrs returns the addresses of all ranks for package velo.
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

// localIndices numbers the ranks of each node from 0 and returns the largest number of ranks on a
// node. If mine is not nil, only those ranks count.
func (d Directory) localIndices(mine []int) (index []int, most int) {
	index = make([]int, len(d))
	on := map[int]int{}
	for r, p := range d {
		if mine != nil && !slices.Contains(mine, r) {
			continue
		}
		index[r] = on[p.Node]
		on[p.Node]++
		most = max(most, on[p.Node])
	}
	return index, most
}
