package rma

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/stall"
)

// Bounds of operations and configurations.
const (
	MaxBytes     = 1 << 23 // length of a put or get
	MaxNotiSlots = 8191    // size of a notification ring
	// MaxOutstanding bounds outstanding operations. The rest of a tag must distinguish several
	// generations of a table entry.
	MaxOutstanding = 1 << 10
)

const descriptorBytes = 24

// Config is the configuration of a port.
type Config struct {
	// NotiSlots is the size of the notification ring: at least two entries for each outstanding
	// operation. Further entries are for notifications that peers raise.
	NotiSlots   int
	Outstanding int    // maximum number of outstanding operations
	NotiBase    uint64 // offset of the ring in memory, NotiSlots * 16 bytes in one segment
	ATU         *ATU   // of the process's node
	Cache       CacheConfig
	Domain      uint16 // protection domain of the process, the same as for VELO; 0: process.DefaultDomain
}

// Stats are the counters of a port.
type Stats struct {
	Operations, Bytes       uint64 // posted
	TryAgain                uint64 // attempts that returned ErrTryAgain
	Notifications           uint64 // taken off the ring
	Faults                  uint64 // notifications of failed fragments
	Hits, Misses, Evictions uint64 // of the registration cache
}

// A Port is one process's access to RMA.
type Port struct {
	dev    drivers.Device
	self   Peer
	atu    *ATU
	cache  cache
	window uint32
	ring   *ring
	rpReg  uint32
	rpDone uint32 // read pointer last written to the NIC
	lazy   uint32 // consumed notifications after which the read pointer is written
	ops    operations
	late   Handle // the last operation that failed after it had completed
	stats  Stats
	stall  stall.Watch
	line   [descriptorBytes]byte
}

// Open opens the port of process vpid on node, whose NIC is dev. The process can post operations
// immediately; operations of peers fail until this port is open.
func Open(dev drivers.Device, vpid, node int, cfg Config) (*Port, error) {
	switch {
	case vpid < 0 || vpid >= regs.VPIDs:
		return nil, fmt.Errorf("%w: VPID %d: expected 0..%d", drivers.ErrConfig, vpid, regs.VPIDs-1)
	case cfg.ATU == nil:
		return nil, fmt.Errorf("%w: a port needs the ATU of its node, Config.ATU is nil", drivers.ErrConfig)
	case cfg.Outstanding < 1 || cfg.Outstanding > MaxOutstanding:
		return nil, fmt.Errorf("%w: %d operations under way: expected 1..%d", drivers.ErrConfig, cfg.Outstanding, MaxOutstanding)
	case cfg.NotiSlots < 2*cfg.Outstanding:
		return nil, fmt.Errorf("%w: a ring of %d notifications for %d operations under way: expected two for each and some for peers",
			drivers.ErrConfig, cfg.NotiSlots, cfg.Outstanding)
	case cfg.Cache.Regions < 0:
		return nil, fmt.Errorf("%w: a cache of %d regions: expected 0 (the default) or more", drivers.ErrConfig, cfg.Cache.Regions)
	}
	ring, err := newRing(dev.Memory(), cfg.NotiBase, cfg.NotiSlots)
	if err != nil {
		return nil, err
	}
	p := &Port{
		stall: stall.NewWatch(dev),
		dev:   dev, self: Peer{node, vpid}, atu: cfg.ATU, ring: ring,
		window: regs.Descriptors(uint8(vpid)),
		rpReg:  regs.NotiRP(uint8(vpid)),
		lazy:   uint32(min(64, max(1, (cfg.NotiSlots-2*cfg.Outstanding)/2))),
	}
	p.cache.init(cfg.Cache)
	p.ops.init(cfg.Outstanding)
	return p, p.enable(cfg)
}

// enable enables the ring and the send window.
func (p *Port) enable(cfg Config) error {
	if err := checkDevice(p.dev); err != nil {
		return err
	}
	v := uint8(p.self.VPID)
	addr, err := drivers.Address(p.dev, cfg.NotiBase, uint64(cfg.NotiSlots)*regs.NotiBytes)
	if err != nil {
		return err
	}
	if err := process.Disable(p.dev, regs.NotiCtrl(v), regs.NotiCtrlBusy); err != nil {
		return err
	}
	if err := process.Join(p.dev, v, cfg.Domain); err != nil {
		return err
	}
	clear(p.ring.words) // a sequence number of an earlier use would look like a new notification
	ctrl := regs.NotiCtrlEnable | regs.NotiCtrlWindow
	for _, w := range []struct {
		off uint32
		v   uint64
	}{
		{regs.NotiBase(v), addr}, {regs.NotiSlots(v), uint64(cfg.NotiSlots)}, {regs.NotiCtrl(v), ctrl},
	} {
		if err := p.dev.WriteReg(w.off, w.v); err != nil {
			return err
		}
	}
	// Reading back waits until the writes have arrived.
	got, err := p.dev.ReadReg(regs.NotiCtrl(v))
	if got &^= regs.NotiCtrlBusy; err == nil && got != ctrl {
		err = fmt.Errorf("rma: NOTI_CTRL[%d] reads 0x%x after writing 0x%x", v, got, ctrl)
	}
	return err
}

// Close closes the port. All its descriptors must have reached the NIC: queued operations are
// discarded and started ones are sent, but their responses are not awaited. When Close returns, the
// NIC holds no translations of the process's pages and accesses neither these pages nor the ring.
// The process keeps its domain until [process.Leave].
func (p *Port) Close() error {
	v := uint8(p.self.VPID)
	if err := process.DisableAndDrain(p.dev, v, regs.NotiCtrl(v), regs.NotiCtrlBusy, regs.LevelDescriptors.Mask()|regs.LevelFragments.Mask()); err != nil {
		return err
	}
	return p.atu.evict(p.dev, p.self.VPID)
}

// Put writes n bytes from local, in this process's registered memory, to remote, in the peer's.
func (p *Port) Put(to Peer, local, remote NLA, n int, nf Notify) (Handle, error) {
	return p.post(to, CommandPut, nf, Requester, n, uint64(local), remote)
}

// PutUnsignaled is a Put without notifications, here and at the target, unless it fails. It is done
// when a later operation of this port has raised a notification. The caller must post such an
// operation, for example a Get that depends on the put's data. A fault is reported as that of a
// completed Put.
func (p *Port) PutUnsignaled(to Peer, local, remote NLA, n int) (Handle, error) {
	return p.post(to, CommandPut, ahead, Requester, n, uint64(local), remote)
}

// Get reads n bytes from remote, in the peer's registered memory, to local, in this process's.
func (p *Port) Get(from Peer, local, remote NLA, n int, nf Notify) (Handle, error) {
	return p.post(from, CommandGet, nf, Completer, n, uint64(remote), local)
}

// PutImmediate writes 1 to 8 bytes from payload, which need not be in registered memory. It keeps
// no reference to payload.
func (p *Port) PutImmediate(to Peer, remote NLA, payload []byte, nf Notify) (Handle, error) {
	if len(payload) < 1 || len(payload) > 8 {
		return 0, fmt.Errorf("%w: immediate put of %d bytes: expected 1..8", drivers.ErrConfig, len(payload))
	}
	var w [8]byte
	copy(w[:], payload)
	return p.post(to, CommandPutImmediate, nf, Requester, len(payload), binary.LittleEndian.Uint64(w[:]), remote)
}

// Notify raises an event with a payload at the peer, without access to memory. The event is raised
// only if nf includes Completer.
func (p *Port) Notify(to Peer, payload uint64, nf Notify) (Handle, error) {
	return p.post(to, CommandNotify, nf, Requester, 8, payload, 0)
}

// FetchCompareAdd atomically reads the 32-bit word at remote and, if it is at most compare, adds
// add to it. The Completer's event has the result.
func (p *Port) FetchCompareAdd(to Peer, remote NLA, compare, add uint32) (Handle, error) {
	w := regs.RMALockFields{Compare: compare, Add: add}.Pack()
	return p.post(to, CommandFetchCompareAdd, Completer, Completer, 4, uint64(w), remote)
}

// post writes a descriptor. The notification done, which completes the operation here, is always
// requested.
func (p *Port) post(to Peer, c Command, nf, done Notify, n int, w1 uint64, w2 NLA) (Handle, error) {
	if err := p.check(to, c, n, w1, w2); err != nil {
		return 0, err
	}
	quiet := nf == ahead
	nf &^= ahead
	op := p.ops.begin(c, to, nf, done)
	if op == nil {
		p.stats.TryAgain++
		return 0, ErrTryAgain
	}
	ask := nf | op.awaits
	if quiet {
		if p.ops.suppressNotifications(op); op.silent {
			ask = 0
		}
	}
	w0 := regs.RMADescFields{
		Command: c, NotiRequester: ask&Requester != 0, NotiResponder: ask&Responder != 0, NotiCompleter: ask&Completer != 0,
		DstVPID: uint8(to.VPID), DstNode: uint16(to.Node), BytesMinus1: uint32(n - 1), Tag: p.ops.tag(op),
	}.Pack()
	binary.LittleEndian.PutUint64(p.line[0:], uint64(w0))
	binary.LittleEndian.PutUint64(p.line[8:], w1)
	binary.LittleEndian.PutUint64(p.line[16:], uint64(w2))
	p.stats.Operations++
	p.stats.Bytes += uint64(n)
	return op.handle, p.dev.WritePIO(p.window, p.line[:])
}

// ahead, passed as nf, marks a put whose completion a later operation reports.
const ahead Notify = 1 << 7

const (
	nlaTop  = 1<<48 - 1
	nodeTop = 1<<12 - 1
)

func (p *Port) check(to Peer, c Command, n int, w1 uint64, w2 NLA) error {
	moves := c == CommandPut || c == CommandGet
	switch {
	case to.Node < 0 || to.Node > nodeTop || to.VPID < 0 || to.VPID >= regs.VPIDs:
		return fmt.Errorf("%w: %s: peer is %s: expected node 0..%d and VPID 0..%d", drivers.ErrConfig, c, to, nodeTop, regs.VPIDs-1)
	case n < 1 || n > MaxBytes:
		return fmt.Errorf("%w: %s of %d bytes: expected 1..%d", drivers.ErrConfig, c, n, MaxBytes)
	case w2 > nlaTop || moves && w1 > nlaTop:
		return fmt.Errorf("%w: %s: an address is above 0x%x: expected NLAs", drivers.ErrConfig, c, uint64(nlaTop))
	case c == CommandFetchCompareAdd && w2%4 != 0:
		return fmt.Errorf("%w: %s at NLA 0x%x: expected a multiple of 4", drivers.ErrConfig, c, uint64(w2))
	}
	return nil
}

// LocallyComplete reports whether an operation is complete at this process: its local buffer can be
// reused, and what a get or a fetch-and-compare-add fetches has arrived. A put is then on its way;
// only its completer notification, at the target, tells that it was written.
func (p *Port) LocallyComplete(h Handle) bool { return p.ops.done(h) }

// InFlight returns the number of operations that are not done.
func (p *Port) InFlight() int { return len(p.ops.table) - p.ops.free.n }

// Stats returns the port's counters.
func (p *Port) Stats() Stats {
	s := p.stats
	s.Hits, s.Misses, s.Evictions = p.cache.hits, p.cache.misses, p.cache.evictees
	return s
}
