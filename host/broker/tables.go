package broker

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/rma"
)

// mapPages enters pages of the client's memory into the translation tables for one of its
// processes.
func (c *client) mapPages(f *wire.Frame) (uint64, error) {
	at := wire.Process{Node: int(f.Node), VPID: int(f.VPID)}
	p := c.procs[at]
	if p == nil {
		return 0, fmt.Errorf("%w: pages of %v", wire.ErrForbidden, at)
	}
	off, err := c.inside(at.Node, f.A, f.B)
	if err != nil {
		return 0, err
	}
	const grain = segment.Grain
	pages := (off+f.B+grain-1)/grain - off/grain
	if p.pages+pages > c.pieces[at.Node].n/grain*quota+spareQuota {
		return 0, fmt.Errorf("%w: %d pages of %v and %d more", drivers.ErrTablesFull, p.pages, at, pages)
	}
	nla, err := c.b.nodes[at.Node].atu.Map(at.VPID, off, f.B, rma.Rights(f.Flag))
	switch {
	case errors.Is(err, rma.ErrTryAgain):
		return 0, fmt.Errorf("%w: %w", drivers.ErrTablesBusy, err)
	case errors.Is(err, drivers.ErrTablesFull):
		return 0, fmt.Errorf("%w: %w", drivers.ErrTablesFull, err)
	case err != nil:
		return 0, err
	}
	p.mapped[nla] = pages
	p.pages += pages
	return uint64(nla), nil
}

func (c *client) unmap(f *wire.Frame) error {
	nla := rma.NLA(f.A)
	for at, p := range c.procs {
		if pages, ok := p.mapped[nla]; ok && at.Node == int(f.Node) {
			delete(p.mapped, nla)
			p.pages -= pages
			return c.b.nodes[at.Node].atu.Unmap(nla)
		}
	}
	return fmt.Errorf("%w: address 0x%x of node %d", wire.ErrForbidden, f.A, f.Node)
}

func (c *client) forget(f *wire.Frame) error {
	at := wire.Process{Node: int(f.Node), VPID: int(f.VPID)}
	p := c.procs[at]
	if p == nil {
		return fmt.Errorf("%w: pages of %v", wire.ErrForbidden, at)
	}
	clear(p.mapped)
	p.pages = 0
	return c.b.nodes[at.Node].atu.Evict(at.VPID)
}
