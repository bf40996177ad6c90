package isolation

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Lives have processes end in the middle of everything, and others take their numbers and their
// memory.
func Lives() []regress.Test {
	return []regress.Test{
		{
			Name: "isolation/new-owner", Tags: []string{"smoke", "rma"},
			Doc: "descriptors of an ended process, stalled by a full ring, do not affect the next owner of its VPID",
			Run: testNewOwner,
		},
		{
			Name: "isolation/late-answer", Tags: []string{"rma"},
			Doc: "responses to an ended process reach neither pages nor ring of the next owner of its VPID",
			Run: testLateAnswer,
		},
		{
			Name: "isolation/held-notification", Tags: []string{"rma"},
			Doc: "notifications stalled by a full ring do not reach the ring of the next owner of its VPID",
			Run: testHeldNotification,
		},
		{
			Name: "isolation/lives",
			Doc:  "processes start and end at random; other processes are not affected",
			Run:  func(t *regress.T) error { return testLives(t, 10_000) },
		},
		{
			Name: "isolation/lives-long", Tags: []string{"long"},
			Doc: "processes start and end at random, 10^6 packets; other processes are not affected",
			Run: func(t *regress.T) error { return testLives(t, 1_000_000) },
		},
	}
}

const (
	lifeDomain = 100 // of the processes that stay
	lastMortal = 4   // those that do not have the VPIDs 2 to this
	lifeNodes  = 2
	steadyVPID = 1
	quads      = 1 << 12 / 8 // quadwords of a page
)

// A resident stays and checks that all it does is done, and nothing else.
type resident struct {
	n        *nictest.NIC
	peer     uint16
	expected [quads]uint64 // of its page, which the peer writes
	sent     int           // mails to the peer
	got      int           // from it
	notis    int
	told     int
}

// A mortal is a process number whose processes come and go.
type mortal struct {
	n      *nictest.NIC
	vpid   uint8
	domain uint64 // 0: nobody lives there
	posted uint64 // lines, of all its processes
}

type lives struct {
	t         *regress.T
	nics      []*nictest.NIC
	residents [lifeNodes]resident
	mortals   []mortal
	refused   int
	deaths    int
	births    int
}

func testLives(t *regress.T, packets uint64) error {
	nics, err := nictest.OpenNICs(t, lifeNodes)
	if err != nil {
		return err
	}
	l := &lives{t: t, nics: nics}
	for i, n := range nics {
		l.residents[i] = resident{n: n, peer: uint16(1 - i)}
		if err := n.EnableAll(steadyVPID, lifeDomain); err != nil {
			return err
		}
		for v := uint8(2); v <= lastMortal; v++ {
			l.mortals = append(l.mortals, mortal{n: n, vpid: v})
		}
	}
	for round := 0; ; round++ {
		if err := l.round(); err != nil {
			return fmt.Errorf("round %d (seed %d): %w", round, t.Seed, err)
		}
		if round%100 != 0 {
			continue
		}
		if done, err := l.arrived(); err != nil || done >= packets {
			return errors.Join(err, l.end(done))
		}
	}
}

// arrived counts the packets that have come, or were refused.
func (l *lives) arrived() (sum uint64, err error) {
	for _, n := range l.nics {
		for _, off := range []uint32{regs.RXPackets, regs.RXDropped, regs.RMARXPackets, regs.RMARXDropped} {
			v, err := l.read(n, off)
			if err != nil {
				return 0, err
			}
			sum += v
		}
	}
	return sum, nil
}

// round has everybody do something, some die, and time pass.
func (l *lives) round() error {
	r := l.t.Rand
	for i := range l.residents {
		if err := l.residents[i].act(l); err != nil {
			return err
		}
	}
	for i := range l.mortals {
		m := &l.mortals[i]
		var err error
		switch {
		case m.domain == 0:
			err = m.begin(l)
		case r.Intn(12) == 0:
			if err = m.die(l); err == nil && r.Intn(2) == 0 {
				err = m.begin(l)
			}
		default:
			err = m.act(l)
		}
		if err != nil {
			return fmt.Errorf("node %d VPID %d: %w", m.n.Node, m.vpid, err)
		}
	}
	return l.watch(drivers.Cycle(50 + r.Intn(300)))
}

// watch lets time pass, then all look at what has come.
func (l *lives) watch(cycles drivers.Cycle) error {
	if err := l.pass(cycles); err != nil {
		return err
	}
	for i := range l.residents {
		if err := l.residents[i].look(); err != nil {
			return err
		}
	}
	for i := range l.mortals {
		if err := l.mortals[i].look(l); err != nil {
			return err
		}
	}
	return nil
}

// read reads a register. It may learn, too, that a line was refused because its window went off: no
// fault.
func (l *lives) read(n *nictest.NIC, off uint32) (uint64, error) {
	v, err := n.Dev.ReadReg(off)
	return v, l.forgive(err)
}

func (l *lives) forgive(err error) error {
	var bus *drivers.BusError
	if errors.As(err, &bus) && bus.Port == "pio" {
		l.refused++
		return nil
	}
	return err
}

// pass lets time pass.
func (l *lives) pass(cycles drivers.Cycle) error {
	var stop drivers.Stop
	for deadline := l.nics[0].Sys.Now() + cycles; l.nics[0].Sys.Now() < deadline; {
		if err := l.forgive(l.nics[0].Sys.Run(deadline, &stop)); err != nil {
			return err
		}
	}
	return nil
}

// act writes a word of the peer's page, and sends it a mail.
func (s *resident) act(l *lives) error {
	other := &l.residents[s.peer]
	quad := l.t.Rand.Intn(quads)
	word := uint64(s.sent+1)<<32 | uint64(lifeDomain)<<16 | uint64(quad)
	other.expected[quad] = word
	d := regs.RMADescFields{Command: regs.RMACommandImmPut, DstNode: s.peer, DstVPID: steadyVPID, BytesMinus1: 7, NotiCompleter: true}
	var mail [12]byte
	binary.LittleEndian.PutUint64(mail[:], word)
	other.notis++
	s.sent++
	return errors.Join(s.n.PostAs(steadyVPID, d, word, nictest.NLAOf(steadyVPID, 8*uint64(quad))),
		s.n.Send(regs.PioFields{SrcVPID: steadyVPID, DstNode: uint8(s.peer), DstVPID: steadyVPID}, mail[:]))
}

// look takes mails and notifications off, which come in order, each once.
func (s *resident) look() error {
	mem := s.n.Dev.Memory()[nictest.OwnArea(steadyVPID):]
	for {
		slot := mem[s.got%nictest.OwnSlots*regs.SlotBytes:][:regs.SlotBytes]
		h := regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:]))
		if int(h.Seq()) != s.got+1 {
			break
		}
		if h.SrcVPID() != steadyVPID || h.SrcNode() != s.peer || binary.LittleEndian.Uint64(slot)>>32 != uint64(s.got+1) {
			return fmt.Errorf("node %d: mail %d is %+v, %x", s.n.Node, s.got, h.Fields(), slot[:8])
		}
		s.got++
	}
	for {
		at := mem[nictest.OwnRing+s.told%nictest.OwnNotis*regs.NotiBytes:]
		noti := regs.RMANoti(binary.LittleEndian.Uint64(at[8:])).Fields()
		if int(noti.Seq) != (s.told+1)&(1<<14-1) {
			break
		}
		if noti.Error != 0 || noti.PeerVPID != steadyVPID || noti.PeerNode != s.peer {
			return fmt.Errorf("node %d: notification %d is %+v", s.n.Node, s.told, noti)
		}
		s.told++
	}
	return errors.Join(s.n.Dev.WriteReg(regs.MboxRP(steadyVPID), uint64(uint32(s.got))), s.n.Dev.WriteReg(regs.NotiRP(steadyVPID), uint64(uint32(s.told))))
}

// begin opens a process of some domain, in memory that nobody else uses any more.
func (m *mortal) begin(l *lives) error {
	m.domain = uint64(2 + l.t.Rand.Intn(2))
	l.births++
	clear(m.n.Dev.Memory()[nictest.OwnArea(m.vpid):][:nictest.OwnPage+1<<12])
	return l.forgive(m.n.EnableAll(m.vpid, m.domain))
}

// act posts something to anybody: to its like, to strangers, to nobody. What it writes has its
// domain in each word.
func (m *mortal) act(l *lives) error {
	r := l.t.Rand
	m.posted++
	to, node := uint8(1+r.Intn(lastMortal+1)), uint16(r.Intn(lifeNodes))
	word := m.domain<<32 | m.domain
	if r.Intn(3) == 0 {
		var mail [16]byte
		binary.LittleEndian.PutUint64(mail[:], word)
		return m.n.Send(regs.PioFields{SrcVPID: m.vpid, DstNode: uint8(node), DstVPID: to}, mail[:])
	}
	d := regs.RMADescFields{DstNode: node, DstVPID: to, NotiRequester: r.Intn(4) == 0, NotiResponder: r.Intn(4) == 0, NotiCompleter: r.Intn(2) == 0, BytesMinus1: 7}
	w1, w2 := word, nictest.NLAOf(to, 8*uint64(r.Intn(quads)))
	switch r.Intn(5) {
	case 0:
		d.Command = regs.RMACommandImmPut
	case 1:
		d.Command = regs.RMACommandNotiPut
	case 2:
		d.Command, w1 = regs.RMACommandFCAA, 0 // adds nothing
	case 3:
		d.Command, d.BytesMinus1 = regs.RMACommandPut, uint32(8*(1+r.Intn(quads/2))-1)
		w1, w2 = nictest.NLAOf(m.vpid, 0), nictest.NLAOf(to, 8*uint64(r.Intn(quads/2)))
	case 4:
		d.Command, d.BytesMinus1 = regs.RMACommandGet, uint32(8*(1+r.Intn(quads/2))-1)
		w1, w2 = nictest.NLAOf(to, 0), nictest.NLAOf(m.vpid, 8*uint64(r.Intn(quads/2)))
	}
	return m.n.PostAs(m.vpid, d, w1, w2)
}

// die ends a process at once, as it is, often with much that it has just posted; its memory is
// given back when nothing of it is under way any more.
func (m *mortal) die(l *lives) error {
	for range l.t.Rand.Intn(8) {
		if err := m.act(l); err != nil {
			return err
		}
	}
	if err := l.pass(drivers.Cycle(l.t.Rand.Intn(150))); err != nil { // some of it is with the NIC then
		return err
	}
	m.domain = 0
	l.deaths++
	n := m.n
	if err := n.Dev.WriteReg(regs.PDID(m.vpid), 0); err != nil {
		return err
	}
	if err := errors.Join(l.pass(drivers.Cycle(l.t.Rand.Intn(40))), l.stored(m)); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(n.Dev.Memory()[nictest.OwnArea(m.vpid)+nictest.OwnTable:], 0)
	status, err := l.read(n, regs.ATUStatus)
	if err != nil {
		return err
	}
	want := uint32(regs.ATUStatusDone.Of(status)) + 2
	if err := errors.Join(n.Dev.WriteReg(command(regs.ATUOpFlushAll).Reg, command(regs.ATUOpFlushAll).Value), n.Dev.WriteReg(command(regs.ATUOpFence).Reg, command(regs.ATUOpFence).Value)); err != nil {
		return err
	}
	for range 1000 {
		busy := false
		for _, w := range []struct {
			off  uint32
			mask uint64
		}{{regs.MboxCtrl(m.vpid), regs.MboxCtrlBusy}, {regs.NotiCtrl(m.vpid), regs.NotiCtrlBusy}} {
			v, err := l.read(n, w.off)
			if err != nil {
				return err
			}
			busy = busy || v&w.mask != 0
		}
		status, err := l.read(n, regs.ATUStatus)
		if err != nil {
			return err
		}
		if done := uint32(regs.ATUStatusDone.Of(status)); !busy && int32(done-want) >= 0 {
			return nil
		}
	}
	return errors.New("a fence, or the last write to a mailbox or ring, does not end")
}

// stored waits until the NIC has taken or refused all lines that the number's processes have
// posted: one that waits on the bus is judged when it is taken, and would be the next process's.
func (l *lives) stored(m *mortal) error {
	for range 10000 {
		if m.n.Sys.PIOTaken(m.n.Node, int(m.vpid)) >= m.posted {
			return nil
		}
		if err := l.pass(50); err != nil {
			return err
		}
	}
	return errors.New("a line is not taken from the bus")
}

// look reads what a process has got: nothing of another domain.
func (m *mortal) look(l *lives) error {
	if m.domain == 0 {
		return nil
	}
	mem, word := m.n.Dev.Memory()[nictest.OwnArea(m.vpid):], m.domain<<32|m.domain
	for i := range nictest.OwnSlots {
		slot := mem[i*regs.SlotBytes:]
		if h := binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:]); h != 0 && binary.LittleEndian.Uint64(slot) != word {
			return fmt.Errorf("a process of domain %d got mail %x", m.domain, slot[:16])
		}
	}
	for i := range quads {
		if got := binary.LittleEndian.Uint64(mem[nictest.OwnPage+8*i:]); got != 0 && got != word {
			return fmt.Errorf("a page of domain %d holds %x", m.domain, got)
		}
	}
	for _, p := range [][2]uint32{{regs.MboxWP(m.vpid), regs.MboxRP(m.vpid)}, {regs.NotiWP(m.vpid), regs.NotiRP(m.vpid)}} {
		wp, err := l.read(m.n, p[0])
		if err != nil {
			return err
		}
		if err := m.n.Dev.WriteReg(p[1], wp); err != nil {
			return err
		}
	}
	return nil
}

// end lets all come to rest: those who stayed have all, in order, and exact.
func (l *lives) end(packets uint64) error {
	for range 50 {
		if err := l.watch(2000); err != nil {
			return err
		}
	}
	sums := map[uint32]uint64{}
	for i := range l.residents {
		s := &l.residents[i]
		if s.got != l.residents[s.peer].sent || s.told != s.notis {
			return fmt.Errorf("node %d: %d of %d packets and %d of %d notifications arrived", i, s.got, l.residents[s.peer].sent, s.told, s.notis)
		}
		for c, want := range s.expected {
			if got := binary.LittleEndian.Uint64(s.n.Page(steadyVPID)[8*c:]); got != want {
				return fmt.Errorf("node %d: word %d is %x, expected %x", i, c, got, want)
			}
		}
		for _, off := range []uint32{regs.DomainRefused, regs.RMAPurged, regs.RMALate, regs.RMANotiOff} {
			v, err := s.n.Dev.ReadReg(off)
			if err != nil {
				return err
			}
			sums[off] += v
		}
	}
	l.t.Notef("%d packets, %d births, %d deaths: %d refused, %d descriptors purged, %d answers late, %d notifications discarded, %d lines refused",
		packets, l.births, l.deaths, sums[regs.DomainRefused], sums[regs.RMAPurged], sums[regs.RMALate], sums[regs.RMANotiOff], l.refused)
	if sums[regs.DomainRefused] == 0 || sums[regs.RMAPurged] == 0 || sums[regs.RMANotiOff] == 0 {
		return errors.New("nothing was refused, purged or discarded: the test lost its point")
	}
	return nil
}
