package isolation

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// SendWindows are tests of the send windows as a bus with posted writes uses them.
func SendWindows() []regress.Test {
	return []regress.Test{
		{
			Name: "isolation/pio-pieces", Tags: []string{"smoke"},
			Doc: "PIO lines in random pieces and order, several processes interleaved: packets arrive complete and in order",
			Run: testPieces,
		},
		{
			Name: "isolation/pio-refused", Tags: []string{"smoke"},
			Doc: "PIO lines without a free entry are refused, with those behind them, until they are sent again; all packets arrive once and in order",
			Run: testRefusedLines,
		},
		{
			Name: "isolation/pio-channel",
			Doc:  "two nodes send to each other's full mailboxes; updates of read pointers queue behind PIO lines on one ordered channel",
			Run:  testChannel,
		},
		{
			Name: "isolation/pio-killed", Tags: []string{"smoke"},
			Doc: "a process ends in the middle of a PIO line: nothing of it reaches others or the next owner of its window",
			Run: testKilledLine,
		},
		{
			Name: "isolation/ring-size", Tags: []string{"rma"},
			Doc: "base and size of an enabled ring cannot be changed",
			Run: testRingSize,
		},
	}
}

// unpaced opens nodes whose processes count their entries themselves, if they do.
func unpaced(t *regress.T, nodes, vpids, slots int) ([]*nictest.NIC, error) {
	sys, err := t.Open(nodes, nictest.NodeMemory, nil)
	if err != nil {
		return nil, err
	}
	list := make([]*nictest.NIC, nodes)
	for i := range list {
		list[i] = &nictest.NIC{Sys: sys, Dev: sys.Device(i), Node: i, Stride: nictest.BoxBytes}
		for v := range vpids {
			if err := list[i].Enable(v, slots); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// cut gives the writes that bring a line of so many bytes, in random order; some bring what is
// behind its end too.
func cut(t *regress.T, f regs.PioFields, payload []byte) []write8 {
	line := make([]byte, regs.LineBytes)
	copy(line, payload)
	quads := max(1, (len(payload)+7)/8)
	if t.Rand.Intn(3) == 0 {
		quads = 8
	}
	var list []write8
	for from := 0; from < quads; {
		to := from + 1 + t.Rand.Intn(quads-from)
		if t.Rand.Intn(2) == 0 {
			to = from + 1
		}
		f.Byte = uint8(8 * from)
		list = append(list, write8{uint32(f.Pack()), line[8*from : 8*to]})
		from = to
	}
	t.Rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// A write8 is a write to a send window.
type write8 struct {
	off  uint32
	data []byte
}

func testPieces(t *regress.T) error {
	const nodes, vpids, slots, rounds = 2, 3, 64, 40
	nics, err := unpaced(t, nodes, vpids, slots)
	if err != nil {
		return err
	}
	type pair struct{ from, to int }
	sent, got := map[pair]uint64{}, map[pair]uint64{}
	bodies := map[pair][][]byte{}
	for range rounds {
		var scripts [nodes * vpids][]write8
		for p := range scripts {
			for range 1 + t.Rand.Intn(6) {
				to := t.Rand.Intn(nodes * vpids)
				body := make([]byte, t.Rand.Intn(regs.VELOPayload+1))
				t.Rand.Read(body)
				f := regs.PioFields{SrcVPID: uint8(p % vpids), DstNode: uint8(to / vpids), DstVPID: uint8(to % vpids), Length: uint8(len(body))}
				scripts[p] = append(scripts[p], cut(t, f, body)...)
				bodies[pair{p, to}] = append(bodies[pair{p, to}], body)
				sent[pair{p, to}]++
			}
		}
		for left := len(scripts); left > 0; { // the processors alternate as they like
			p := t.Rand.Intn(len(scripts))
			if len(scripts[p]) == 0 {
				continue
			}
			w := scripts[p][0]
			if scripts[p] = scripts[p][1:]; len(scripts[p]) == 0 {
				left--
			}
			if err := nics[p/vpids].Dev.WritePIO(w.off, w.data); err != nil {
				return err
			}
		}
		if err := nictest.Settle(nics[0].Sys); err != nil {
			return fmt.Errorf("%w (seed %d)", err, t.Seed)
		}
		for to := range nodes * vpids {
			n := nics[to/vpids]
			for ring := n.Rings[to%vpids]; ; ring.Advance() {
				s, ok := ring.Peek()
				if !ok {
					break
				}
				p := pair{int(s.SrcNode)*vpids + int(s.SrcVPID), to}
				if k := got[p]; k >= sent[p] || !bytes.Equal(s.Payload, bodies[p][k]) {
					return fmt.Errorf("from process %d to %d: packet %d of %d is %x: lost, duplicated or mixed (seed %d)", p.from, p.to, k, sent[p], s.Payload, t.Seed)
				}
				got[p]++
			}
			if err := n.Free(to % vpids); err != nil {
				return err
			}
		}
	}
	for p, n := range sent {
		if got[p] != n {
			return fmt.Errorf("from process %d to %d: %d of %d lines arrived (seed %d)", p.from, p.to, got[p], n, t.Seed)
		}
	}
	return nil
}

// window reads what the NIC says of a process's window of VELO.
func window(n *nictest.NIC, vpid uint8) (v uint64, taken, refused uint16, err error) {
	v, err = n.Dev.ReadReg(regs.VELOWindow(vpid))
	return v, uint16(regs.VELOWindowTaken.Of(v)), uint16(regs.VELOWindowRefused.Of(v)), err
}

// numbered writes line number i of a process of the first node to one of the second.
func numbered(n *nictest.NIC, f regs.PioFields, i uint64) error {
	f.Length = 8
	return n.Dev.WritePIO(uint32(f.Pack()), binary.LittleEndian.AppendUint64(nil, i))
}

// drainInto takes what is in a mailbox, which must go on with number next.
func drainInto(n *nictest.NIC, vpid int, next *uint64) error {
	for {
		s, ok := n.Rings[vpid].Peek()
		if !ok {
			return n.Free(vpid)
		}
		if got := binary.LittleEndian.Uint64(s.Payload); got != *next {
			return fmt.Errorf("node %d: line %d arrives, expected %d", n.Node, got, *next)
		}
		*next++
		n.Rings[vpid].Advance()
	}
}

func testRefusedLines(t *regress.T) error {
	const slots, lines, more = 2, 60, 5
	nics, err := unpaced(t, 2, 2, slots)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	f := regs.PioFields{DstNode: 1}
	for i := range uint64(lines) {
		if err := numbered(from, f, i); err != nil {
			return err
		}
	}
	if _, err := nictest.Quiesce(from.Sys); err != nil {
		return err
	}
	v, taken, refused, err := window(from, 0)
	if err != nil {
		return err
	}
	if v&regs.VELOWindowRetry == 0 || int(taken+refused) != lines || taken < regs.VELOLines+slots {
		return fmt.Errorf("VELO_WINDOW is 0x%x: %d lines taken and %d refused of %d", v, taken, refused, lines)
	}
	// Another process has entries of its own.
	if err := errors.Join(numbered(from, regs.PioFields{SrcVPID: 1, DstVPID: 1, DstNode: 1}, 0), settleOrStand(from.Sys)); err != nil {
		return err
	}
	if _, own, lost, err := window(from, 1); err != nil || own != 1 || lost != 0 {
		return fmt.Errorf("process 1: %d lines taken, %d refused, %w", own, lost, err)
	}
	// Room again: what comes is refused all the same, until software has written the register.
	next := uint64(0)
	for next < uint64(taken) {
		if err := errors.Join(drainInto(to, 0, &next), settleOrStand(from.Sys)); err != nil {
			return err
		}
	}
	for i := range uint64(more) {
		if err := numbered(from, f, lines+i); err != nil {
			return err
		}
	}
	if err := nictest.Settle(from.Sys); err != nil {
		return err
	}
	if _, got, lost, err := window(from, 0); err != nil || got != taken || lost != refused+more {
		return fmt.Errorf("%d lines taken and %d refused, expected %d and %d: order is lost, %w", got, lost, taken, refused+more, err)
	}
	if err := from.Set(nictest.Write(regs.VELOWindow(0), 0)); err != nil {
		return err
	}
	for i := uint64(taken); i < lines+more; i++ {
		if err := errors.Join(numbered(from, f, i), settleOrStand(from.Sys), drainInto(to, 0, &next), settleOrStand(from.Sys)); err != nil {
			return err
		}
	}
	if err := errors.Join(drainInto(to, 0, &next), nictest.Settle(from.Sys)); err != nil {
		return err
	}
	if next != lines+more {
		return fmt.Errorf("%d lines arrived, expected %d", next, lines+more)
	}
	return errors.Join(from.Expect(regs.VELOWindow(0), lines+more), from.Expect(regs.TXDropped, 0))
}

// settleOrStand lets everything come to rest, also behind a full mailbox.
func settleOrStand(sys drivers.Timed) error {
	_, err := nictest.Quiesce(sys)
	return err
}

// A channel is one node's path to its NIC as PCIe has it: posted writes to windows and registers
// keep their order, so what is behind a line waits until the NIC has answered that.
type channel struct {
	n      *nictest.NIC
	queue  []posted
	lines  uint16 // brought to the NIC
	sent   uint64 // of this process's numbers, in order
	next   uint64 // of the peer's
	kept   []uint64
	resend int
}

// posted is a line with a number, or, if register is set, a write of the read pointer.
type posted struct {
	number   uint64
	register bool
}

// step brings the first of the queue to the NIC if nothing before it stands on the bus.
func (c *channel) step() error {
	if len(c.queue) == 0 {
		return nil
	}
	_, taken, refused, err := window(c.n, 0)
	if err != nil || taken+refused != c.lines {
		return err // it stands there
	}
	p := c.queue[0]
	c.queue = c.queue[1:]
	if p.register {
		return c.n.Dev.WriteReg(regs.MboxRP(0), p.number)
	}
	c.lines++
	c.kept = append(c.kept, p.number)
	return numbered(c.n, regs.PioFields{DstNode: uint8(1 - c.n.Node)}, p.number)
}

// software polls and posts more than the window has entries for, and sends again what was refused.
func (c *channel) software(all uint64) error {
	before := c.next
	for {
		s, ok := c.n.Rings[0].Peek()
		if !ok {
			break
		}
		if got := binary.LittleEndian.Uint64(s.Payload); got != c.next {
			return fmt.Errorf("node %d: line %d arrives, expected %d", c.n.Node, got, c.next)
		}
		c.next++
		c.n.Rings[0].Advance()
	}
	if c.next != before {
		c.queue = append(c.queue, posted{number: uint64(c.n.Rings[0].Consumed()), register: true})
	}
	v, taken, refused, err := window(c.n, 0)
	if err != nil {
		return err
	}
	if v&regs.VELOWindowRetry != 0 && len(c.queue) == 0 && taken+refused == c.lines {
		if err := c.n.Set(nictest.Write(regs.VELOWindow(0), 0)); err != nil {
			return err
		}
		c.lines, c.resend = taken, c.resend+int(refused)
		again := c.kept[len(c.kept)-int(refused):]
		c.kept = c.kept[:len(c.kept)-int(refused)]
		for _, number := range again {
			c.queue = append(c.queue, posted{number: number})
		}
	}
	for lines := 0; c.sent < all && lines < 4 && len(c.queue) < 40 && v&regs.VELOWindowRetry == 0; lines++ {
		c.queue = append(c.queue, posted{number: c.sent})
		c.sent++
	}
	return nil
}

func testChannel(t *regress.T) error {
	const slots, all, patience = 2, 300, 40_000
	nics, err := unpaced(t, 2, 1, slots)
	if err != nil {
		return err
	}
	ends := [2]*channel{{n: nics[0]}, {n: nics[1]}}
	moved := nics[0].Sys.Now()
	for ends[0].next < all || ends[1].next < all {
		before := ends[0].next + ends[1].next
		for _, c := range ends {
			// Software looks seldom: meanwhile mailboxes, network and windows fill.
			if t.Rand.Intn(12) == 0 {
				if err := c.software(all); err != nil {
					return fmt.Errorf("%w (seed %d)", err, t.Seed)
				}
			}
			if err := c.step(); err != nil {
				return err
			}
		}
		now := nics[0].Sys.Now()
		if ends[0].next+ends[1].next != before {
			moved = now
		}
		if now > moved+patience {
			return fmt.Errorf("%d and %d of %d lines arrived, then nothing for %d cycles: the nodes stop each other (seed %d)", ends[1].next, ends[0].next, all, patience, t.Seed)
		}
	}
	if ends[0].resend+ends[1].resend == 0 {
		return errors.New("no line was refused: the windows were never full")
	}
	t.Notef("%d lines sent again", ends[0].resend+ends[1].resend)
	return nil
}

func testKilledLine(t *regress.T) error {
	nics, err := unpaced(t, 2, 2, nictest.SlotsPerBox)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	f := regs.PioFields{DstNode: 1, Length: 24}
	half := func(quad uint8, v byte) error {
		f.Byte = 8 * quad
		return from.Dev.WritePIO(uint32(f.Pack()), bytes.Repeat([]byte{v}, 8))
	}
	// The process ends behind two of three quadwords; others notice nothing.
	if err := errors.Join(half(0, 0xaa), half(1, 0xaa), numbered(from, regs.PioFields{SrcVPID: 1, DstVPID: 1, DstNode: 1}, 7), nictest.Settle(from.Sys)); err != nil {
		return err
	}
	seven := uint64(7)
	if err := drainInto(to, 1, &seven); err != nil || seven != 8 {
		return fmt.Errorf("process 1 is stopped by a line in parts: %w", err)
	}
	if err := from.Expect(regs.VELOWindow(0), regs.VELOWindowBegun); err != nil {
		return err
	}
	// The next owner's first line has the same address, and comes last quadword first: nothing of the
	// old one makes it whole.
	if err := errors.Join(from.Set(nictest.Write(regs.MboxCtrl(0), 0), nictest.Write(regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)), half(2, 0xbb), nictest.Settle(from.Sys),
		from.Expect(regs.VELOWindow(0), regs.VELOWindowBegun), to.Expect(regs.MboxWP(0), 0)); err != nil {
		return err
	}
	if err := errors.Join(half(1, 0xbb), half(0, 0xbb), nictest.Settle(from.Sys)); err != nil {
		return err
	}
	s, err := to.Next(0)
	if err != nil || !bytes.Equal(s.Payload, bytes.Repeat([]byte{0xbb}, 24)) {
		return fmt.Errorf("the new owner's line arrives as %x, %w", s.Payload, err)
	}
	// In one life: who takes a window over in the middle of a line is told, and sends again.
	if err := errors.Join(half(1, 0xcc), numbered(from, regs.PioFields{DstNode: 1}, 1), nictest.Settle(from.Sys),
		from.Expect(regs.VELOWindow(0), 1|1<<regs.VELOWindowRefused.LSB()|regs.VELOWindowRetry), from.Set(nictest.Write(regs.VELOWindow(0), 0)),
		numbered(from, regs.PioFields{DstNode: 1}, 1), nictest.Settle(from.Sys)); err != nil {
		return err
	}
	one := uint64(1)
	return errors.Join(drainInto(to, 0, &one), to.Expect(regs.MboxWP(0), 2), from.Expect(regs.VELOWindow(0), 2), from.Expect(regs.TXDropped, 0))
}

// testRingSize: a mailbox and a ring that were made shorter while they were on were written one
// entry behind their end.
func testRingSize(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	n := nics[0]
	if err := n.Enable(1, 4); err != nil {
		return err
	}
	refused := uint64(0)
	for _, w := range []nictest.RegWrite{nictest.Write(regs.MboxSlots(1), 2), nictest.Write(regs.MboxBase(1), 0), nictest.Write(regs.NotiSlots(nictest.RawVPID), 2), nictest.Write(regs.NotiBase(nictest.RawVPID), 0)} {
		before, err := n.Dev.ReadReg(w.Reg)
		if err != nil {
			return err
		}
		if err := n.Set(w); !n.WasRefused(err) {
			return fmt.Errorf("%s is written while the ring is on: %v, expected a bus error", regs.Describe(w.Reg), err)
		}
		refused++
		if err := errors.Join(n.Expect(w.Reg, before), n.Expect(regs.BadAccess, refused)); err != nil {
			return err
		}
	}
	// Off, they are written as ever.
	return errors.Join(n.ResizeMailbox(1, 2), n.Expect(regs.MboxSlots(1), 2), n.Expect(regs.BadAccess, refused))
}
