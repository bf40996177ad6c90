package selftest

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
)

// Translation table: one table of 4 KB pages, for source and target.
const (
	table      = 1
	doneAt     = tableAt + 0x800
	atuReads   = 10000
	descriptor = 24
)

// A notiRing is the notification ring of a process that can start operations.
type notiRing struct {
	n    *node
	vpid uint8
	read uint64
	wait drivers.Waiter
}

// openRing gives a process a domain, a ring, and mappings of source and target.
func (n *node) openRing(vpid uint8, ctrl uint64) (*notiRing, error) {
	vpid = min(vpid, n.t.vpids()-1)
	g := &notiRing{n: n, vpid: vpid}
	if n.ring != nil {
		n.ring.close()
	}
	n.ring = g
	const size = notis * regs.NotiBytes
	if err := n.store(ringAt, make([]byte, size)); err != nil {
		return nil, err
	}
	addr, err := drivers.Address(n.dev, ringAt, size)
	if err != nil {
		return nil, err
	}
	if err := n.enable(vpid, "the notification ring", []setting{{regs.NotiBase(vpid), addr}, {regs.NotiSlots(vpid), notis}, {regs.NotiCtrl(vpid), regs.NotiCtrlEnable | regs.NotiCtrlWindow | ctrl}}); err != nil {
		return nil, err
	}
	if err := n.translate(vpid); err != nil {
		return nil, err
	}
	g.wait, err = n.dev.Await(drivers.Cause{Off: ringAt, Bytes: size})
	return g, err
}

// translate maps memory one-to-one for a process: page i of the table is page i of memory.
func (n *node) translate(vpid uint8) error {
	const pages = MemoryBytes / segment.Grain
	var entries []byte
	for i := range uint64(pages) {
		addr, err := drivers.Address(n.dev, i*segment.Grain, segment.Grain)
		if err != nil {
			return err
		}
		e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: vpid, Page: addr / segment.Grain}
		entries = binary.LittleEndian.AppendUint64(entries, uint64(e.Pack()))
	}
	if err := n.store(tableAt, entries); err != nil {
		return err
	}
	base, err := drivers.Address(n.dev, tableAt, segment.Grain)
	if err != nil {
		return err
	}
	for _, w := range []struct {
		off uint32
		v   uint64
	}{{regs.ATUBase(table), base}, {regs.ATUPages(table), pages}, {regs.ATUDone, base + doneAt - tableAt},
		{regs.ATUCommand, uint64(regs.ATUOpFlushAll) << regs.ATUCommandCommand.LSB()}} {
		if err := n.write(w.off, w.v); err != nil {
			return err
		}
	}
	var v uint64
	for range atuReads {
		if v, err = n.dev.ReadReg(regs.ATUStatus); err != nil || v&regs.ATUStatusBusy == 0 {
			return err
		}
	}
	return &Fault{"ATU_STATUS", "a flush to end", hex(v), "the NIC does not reach memory: bus mastering is off, or the IOMMU refuses"}
}

func (g *notiRing) close() {
	if g.wait != nil {
		_ = g.wait.Close()
	}
	_ = process.Leave(g.n.dev, g.vpid)
	_ = g.n.write(regs.ATUPages(table), 0)
	_ = g.n.write(regs.ATUBase(table), 0)
	_ = g.n.write(regs.NotiBase(g.vpid), 0)
	_ = g.n.write(regs.NotiSlots(g.vpid), 0)
	g.n.ring = nil
}

// post stores a descriptor whose completion raises a notification.
func (g *notiRing) post(command regs.RMACommand, bytes int, read, write uint64) error {
	d := regs.RMADescFields{Command: command, NotiCompleter: true, DstVPID: g.vpid, DstNode: uint16(g.n.number), BytesMinus1: uint32(bytes - 1)}
	var line [descriptor]byte
	binary.LittleEndian.PutUint64(line[0:], uint64(d.Pack()))
	binary.LittleEndian.PutUint64(line[8:], read)
	binary.LittleEndian.PutUint64(line[16:], write)
	return g.n.dev.WritePIO(regs.Descriptors(g.vpid), line[:])
}

func nla(off uint64) uint64 { return uint64(regs.NLAFields{Offset: off, Table: table}.Pack()) }

// next waits for a notification, which must have the given command and no error.
func (g *notiRing) next(command regs.RMACommand) error {
	at := ringAt + g.read%notis*regs.NotiBytes + 8
	seq := uint16((g.read + 1) & 0x3fff)
	err := g.n.await(g.wait, func() bool { return regs.RMANoti(g.n.word(at)).Seq() == seq })
	where := fmt.Sprintf("notification %d (memory 0x%x)", g.read+1, at)
	if err != nil {
		if !never(g.n.t.ctx, err) {
			return err
		}
		level, _ := g.n.dev.ReadReg(regs.Level(g.vpid))
		return &Fault{where, fmt.Sprintf("the end of a %v", command), fmt.Sprintf("nothing after %v; LEVEL[%d] is 0x%x", g.n.t.cfg.Patience, g.vpid, level),
			"device dump shows RMA_ERRORS, RMA_RX_DROPPED and ATU_FAULT; a LEVEL that stays is memory that does not answer"}
	}
	noti := regs.RMANoti(g.n.word(at))
	g.read++
	if noti.Error() != regs.RMAErrorNone || noti.Command() != command {
		return &Fault{where, fmt.Sprintf("a %v without an error", command), fmt.Sprintf("a %v, error %v, found by the %v", noti.Command(), noti.Error(), noti.Unit()),
			"ATU_FAULT shows the access that was refused; DMA is an access that memory refused"}
	}
	return g.n.write(regs.NotiRP(g.vpid), g.read)
}

// transfers are sizes and alignments at the limits of fragments, beats and pages.
var transfers = []struct{ bytes, from, to uint64 }{
	{1, 0, 0}, {1, 7, 3}, {7, 1, 0}, {8, 0, 0}, {8, 4, 4}, {9, 3, 5}, {63, 0, 1}, {64, 0, 0}, {65, 63, 62}, {255, 1, 2}, {256, 0, 0}, {257, 255, 1},
	{512, 4090, 11}, {1000, 4095, 4095}, {4095, 1, 0}, {4096, 0, 0}, {4097, 4095, 1}, {8192, 8, 0}, {12289, 5, 6},
}

func dmaCheck(t *tester, n *node) (string, error) {
	if err := n.can(drivers.CanPIO|drivers.CanDMA|drivers.CanAwait, "DMA in both directions"); err != nil {
		return "", err
	}
	g, err := n.openRing(1, 0)
	if err != nil {
		return "", err
	}
	count := 0
	for _, command := range []regs.RMACommand{regs.RMACommandPut, regs.RMACommandGet} {
		for i, x := range transfers {
			if err := g.transfer(command, uint64(count), int(x.bytes), x.from, x.to); err != nil {
				return "", fmt.Errorf("%v of %d bytes, number %d: %w", command, x.bytes, i, err)
			}
			count++
		}
	}
	return fmt.Sprintf("%d transfers", count), nil
}

// transfer copies data within the node and compares everything around it.
func (g *notiRing) transfer(command regs.RMACommand, number uint64, bytes int, from, to uint64) error {
	n := g.n
	source := n.pattern(2000+number, bytes)
	around := n.pattern(3000+number, 2*guard+bytes)
	first := targetAt + guard + to
	if err := n.store(sourceAt+from, source); err != nil {
		return err
	}
	if err := n.store(first-guard, around); err != nil {
		return err
	}
	if err := g.post(command, bytes, nla(sourceAt+from), nla(first)); err != nil {
		return err
	}
	if err := g.next(command); err != nil {
		return err
	}
	copy(around[guard:], source)
	got, err := n.load(first-guard, uint64(len(around)))
	if err != nil {
		return err
	}
	return same(fmt.Sprintf("%v of %d bytes", command, bytes), first-guard, around, got, guard, guard+bytes)
}
