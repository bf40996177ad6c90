package broker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	nicprocess "github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/sharedmem"
	"github.com/nicloop/nicloop/rma"
)

// admit grants the whole claim of a client or returns an error.
func (b *Broker) admit(c *client, claim wire.ClaimText) error {
	if claim.Version != wire.Version || claim.DescHash != regs.DescHashValue {
		return fmt.Errorf("%w: broker: version %d of description 0x%x, expected %d of 0x%x: use the same release at both ends",
			drivers.ErrConfig, claim.Version, claim.DescHash, wire.Version, regs.DescHashValue)
	}
	if claim.Memory == 0 || claim.Memory%segment.Grain != 0 || claim.Domain == 0 {
		return fmt.Errorf("%w: broker: a claim of 0x%x bytes and domain %d", drivers.ErrProtocol, claim.Memory, claim.Domain)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, at := range claim.Processes {
		if at.Node < 0 || at.Node >= len(b.nodes) || at.VPID < 0 || at.VPID >= regs.VPIDs || slices.Contains(claim.Processes[:i], at) {
			return fmt.Errorf("%w: broker: a claim of %v: expected nodes 0..%d and processes 0..%d, each once", drivers.ErrConfig, at, len(b.nodes)-1, regs.VPIDs-1)
		}
		if b.owners[at] != nil {
			return fmt.Errorf("%w: %v", wire.ErrClaimed, at)
		}
	}
	c.claim = claim
	if len(claim.Processes) == 0 {
		return nil
	}
	d := b.domains[claim.Domain]
	if d != nil && d.world != claim.World {
		return fmt.Errorf("%w: domain %d", wire.ErrDomain, claim.Domain)
	}
	pieces := map[int]*piece{}
	for _, at := range claim.Processes {
		if pieces[at.Node] != nil {
			continue
		}
		p, err := b.nodes[at.Node].fit(claim.Memory)
		if err != nil {
			return fmt.Errorf("broker: node %d: %w", at.Node, err)
		}
		pieces[at.Node] = p
	}
	if d == nil {
		d = &domain{world: claim.World}
		b.domains[claim.Domain] = d
	}
	d.clients++
	c.pieces = pieces
	for n, p := range pieces {
		b.nodes[n].add(p)
	}
	for _, at := range claim.Processes {
		b.owners[at] = c
		c.procs[at] = &process{mailbox: ring{slotBytes: regs.SlotBytes}, notis: ring{slotBytes: regs.NotiBytes}, mapped: map[rma.NLA]uint64{}}
	}
	return nil
}

// fit finds free memory for a piece within one segment.
func (n *node) fit(bytes uint64) (*piece, error) {
	list, size := n.dev.Segments(), uint64(len(n.dev.Memory()))
	used := append([]*piece{&n.tables}, n.pieces...)
	for at := uint64(0); ; {
		found, err := segment.Fit(list, at, bytes, segment.Grain)
		if err != nil || bytes > size || found > size-bytes {
			return nil, fmt.Errorf("%w: no 0x%x bytes of memory left of 0x%x: serve the device with more", drivers.ErrConfig, bytes, size)
		}
		i := slices.IndexFunc(used, func(p *piece) bool { return found < p.off+p.n && p.off < found+bytes })
		if i < 0 {
			return &piece{found, bytes}, nil
		}
		at = used[i].off + used[i].n // terminates: the piece overlaps found, so at increases
	}
}

func (n *node) add(p *piece) { n.pieces = append(n.pieces, p) }

// lend backs a piece with a new, zeroed file. A previous owner no longer shares its memory with the
// NIC.
func (b *Broker) lend(n int, p *piece) (*os.File, error) {
	f, err := sharedmem.File(p.n)
	if err != nil {
		return nil, err
	}
	if err := b.sys.Lend(n, p.off, p.n, f, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// release disables the processes of a client and frees its claims and memory. It retries until the
// NIC has released them.
func (b *Broker) release(c *client) {
	if len(c.procs) == 0 {
		return
	}
	for again := 10 * time.Millisecond; ; again = min(2*again, time.Second) {
		err := c.shut()
		if err == nil {
			break
		}
		if b.ctx.Err() != nil { // the broker has ended, so nobody can claim them
			return
		}
		logs.Layer(b.cfg.Log, "broker").WithFields(logrus.Fields{"error": err}).Warn("processes of a disconnected client are still enabled in the NIC")
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(again):
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := range c.procs {
		delete(b.owners, at)
	}
	for n, p := range c.pieces {
		b.nodes[n].pieces = slices.DeleteFunc(b.nodes[n].pieces, func(o *piece) bool { return o == p })
	}
	d := b.domains[c.claim.Domain]
	if d.clients--; d.clients == 0 {
		delete(b.domains, c.claim.Domain)
	}
}

// shut revokes everything that a client owns: windows and rings, queued packets, pages, domain,
// memory.
func (c *client) shut() error {
	for at := range c.procs {
		if err := c.b.shut(at); err != nil {
			return fmt.Errorf("%v: %w", at, err)
		}
	}
	for n, p := range c.pieces {
		f, err := c.b.lend(n, p)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

func (b *Broker) shut(at wire.Process) error {
	n, v := &b.nodes[at.Node], uint8(at.VPID)
	// Windows first: packets posted before are completed, later ones are refused.
	for _, ctrl := range []uint32{regs.MboxCtrl(v), regs.NotiCtrl(v)} {
		if err := n.dev.WriteReg(ctrl, 0); err != nil {
			return err
		}
	}
	return errors.Join(
		b.sys.Drain(at.Node, at.VPID),
		nicprocess.DisableAndDrain(n.dev, v, regs.MboxCtrl(v), regs.MboxCtrlBusy, regs.LevelLines.Mask()),
		nicprocess.DisableAndDrain(n.dev, v, regs.NotiCtrl(v), regs.NotiCtrlBusy, regs.LevelDescriptors.Mask()|regs.LevelFragments.Mask()),
		n.atu.Evict(at.VPID),
		nicprocess.Leave(n.dev, v),
	)
}
