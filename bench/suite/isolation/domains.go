package regress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// domainTests have processes of different protection domains try to reach each other.
var domainTests = []Test{
	{"isolation/domain-reset", []string{"smoke"}, "after reset nobody sends and nobody receives, whatever is switched on", testDomainReset},
	{"isolation/domain", []string{"smoke", "rma"}, "a process neither reads nor writes pages of another domain, nor fills its mailbox or ring; each try is counted, told and shown", testDomain},
	{"isolation/domain-change", nil, "what waits at a full mailbox does not reach it when its process gets another domain", testDomainChange},
}

// Memory of a node of domain tests: process v has its mailbox, ring and page in areas of 64 KB.
const (
	ownBytes = 1 << 16
	ownSlots = 16
	ownNotis = 64
	ownRing  = 0x1000
	ownTable = 0x2000
	ownPage  = 0x3000
)

func own(vpid uint8) uint64 { return uint64(vpid) * ownBytes }

// join opens everything that a process can have: its table is the one with its number, and has one
// page.
func (n *nic) join(vpid uint8, domain uint64) error {
	at := own(vpid)
	e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: vpid, Page: n.address(at+ownPage) >> 12}.Pack()
	binary.LittleEndian.PutUint64(n.dev.Memory()[at+ownTable:], uint64(e))
	clear(n.dev.Memory()[at+ownRing:][:ownNotis*regs.NotiBytes])
	return n.set(write{regs.PDID(vpid), domain},
		write{regs.MboxBase(vpid), at}, write{regs.MboxSlots(vpid), ownSlots},
		write{regs.MboxCtrl(vpid), regs.MboxCtrlEnable | regs.MboxCtrlWindow},
		write{regs.NotiBase(vpid), at + ownRing}, write{regs.NotiSlots(vpid), ownNotis},
		write{regs.NotiCtrl(vpid), regs.NotiCtrlEnable | regs.NotiCtrlWindow},
		write{regs.ATUBase(vpid), at + ownTable}, write{regs.ATUPages(vpid), 1})
}

// page is that of a process.
func (n *nic) page(vpid uint8) []byte { return n.dev.Memory()[own(vpid)+ownPage:][:1<<12] }

// told is the last notification of a process, of so many.
func (n *nic) lastTold(vpid uint8, number int) (regs.RMANotiFields, error) {
	at := own(vpid) + ownRing + uint64((number-1)%ownNotis)*regs.NotiBytes
	got := regs.RMANoti(binary.LittleEndian.Uint64(n.dev.Memory()[at+8:])).Fields()
	if int(got.Seq) != number {
		return got, fmt.Errorf("node %d: VPID %d: notification %d is %+v", n.node, vpid, number, got)
	}
	return got, n.expect(regs.NotiWP(vpid), uint64(number))
}

// nlaOf is an address in a process's page.
func nlaOf(vpid uint8, off uint64) uint64 {
	return uint64(regs.NLAFields{Table: vpid, Offset: off}.Pack())
}

// postAs writes a descriptor into the window of a process.
func (n *nic) postAs(vpid uint8, d regs.RMADescFields, w1, w2 uint64) error {
	line := binary.LittleEndian.AppendUint64(nil, uint64(d.Pack()))
	line = binary.LittleEndian.AppendUint64(line, w1)
	line = binary.LittleEndian.AppendUint64(line, w2)
	return n.dev.WritePIO(regs.Descriptors(vpid), line)
}

func testDomainReset(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	all := regs.MboxCtrlEnable | regs.MboxCtrlWindow
	for _, n := range nics {
		if err := n.set(write{regs.MboxSlots(0), ownSlots}, write{regs.MboxCtrl(0), all}, write{regs.NotiBase(0), ownRing},
			write{regs.NotiSlots(0), ownNotis}, write{regs.NotiCtrl(0), all}); err != nil {
			return err
		}
	}
	// Without a domain the windows take nothing.
	refused := func(what string, send func() error, count uint32) error {
		if err := send(); err != nil {
			return err
		}
		if err := settle(from.sys); !from.refused(err) {
			return fmt.Errorf("%s of a process without a domain: got error %v, expected a refusal", what, err)
		}
		info, err := from.dev.ReadReg(regs.ErrorInfo)
		if got := regs.DropReason(regs.ErrorInfoReason.Of(info)); err == nil && got != regs.DropReasonDomain {
			err = fmt.Errorf("%s was refused for %s", what, got)
		}
		return errors.Join(err, from.expect(count, 1), from.set(write{regs.ErrorInfo, regs.ErrorInfoValid}))
	}
	mail := func() error { return from.send(regs.PioFields{DstNode: 1}, []byte("mail")) }
	tell := func() error {
		return from.postAs(0, regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstNode: 1}, 7, 0)
	}
	if err := errors.Join(refused("a send", mail, regs.TXDropped), refused("a descriptor", tell, regs.RMARefused)); err != nil {
		return err
	}
	// Nor does a process without one receive, from a domain or from number 0, which none is.
	if err := errors.Join(from.join(0, 5), mail(), tell(), settle(from.sys)); err != nil {
		return err
	}
	noti, err := from.lastTold(0, 1)
	if err == nil && noti.Error != regs.RMAErrorDomain {
		err = fmt.Errorf("told %+v, expected that the other domain refused it", noti)
	}
	return errors.Join(err, to.expect(regs.DomainRefused, 2), to.expect(regs.RXDropped, 1), to.expect(regs.MboxWP(0), 0), to.expect(regs.NotiWP(0), 0))
}

// stranger is one try of a process to reach another.
type stranger struct {
	what  string
	kind  regs.PacketType
	found regs.RMAUnit // who refuses; 0: nobody is told of a send
	do    func(n *nic, from uint8, toNode uint16, to uint8) error
}

func strangers() []stranger {
	post := func(c regs.RMACommand, w1, w2 func(from, to uint8) uint64) func(*nic, uint8, uint16, uint8) error {
		return func(n *nic, from uint8, toNode uint16, to uint8) error {
			d := regs.RMADescFields{Command: c, NotiRequester: false, NotiResponder: true, NotiCompleter: true, DstNode: toNode, DstVPID: to, BytesMinus1: 7}
			return n.postAs(from, d, w1(from, to), w2(from, to))
		}
	}
	mine := func(from, _ uint8) uint64 { return nlaOf(from, 64) }
	theirs := func(_, to uint8) uint64 { return nlaOf(to, 64) }
	word := func(_, _ uint8) uint64 { return 0xffffffff_00000001 }
	return []stranger{
		{"a send", regs.PacketTypeVELO, 0, func(n *nic, from uint8, toNode uint16, to uint8) error {
			return n.send(regs.PioFields{SrcVPID: from, DstNode: uint8(toNode), DstVPID: to}, []byte("mine"))
		}},
		{"a put", regs.PacketTypeRMAPut, regs.RMAUnitCompleter, post(regs.RMACommandPut, mine, theirs)},
		{"a get", regs.PacketTypeRMAGetReq, regs.RMAUnitResponder, post(regs.RMACommandGet, theirs, mine)},
		{"an immediate put", regs.PacketTypeRMAImmPut, regs.RMAUnitCompleter, post(regs.RMACommandImmPut, word, theirs)},
		{"a notification", regs.PacketTypeRMANoti, regs.RMAUnitCompleter, post(regs.RMACommandNotiPut, word, word)},
		{"a fetch and add", regs.PacketTypeRMALockReq, regs.RMAUnitResponder, post(regs.RMACommandFCAA, word, theirs)},
	}
}

func testDomain(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const victim, evil, friend = 1, 2, 3
	to := nics[1]
	if err := to.join(victim, 7); err != nil {
		return err
	}
	for _, n := range nics {
		if err := errors.Join(n.join(evil, 8), n.join(friend, 7)); err != nil {
			return err
		}
		for v := range uint8(4) {
			t.Rand.Read(n.page(v))
		}
	}
	before := bytes.Clone(to.page(victim))
	tries := 0
	for _, n := range nics {
		own, notis := bytes.Clone(n.page(evil)), 0
		for _, s := range strangers() {
			tries++
			if err := errors.Join(to.set(write{regs.IRQStatus, regs.IRQStatusError}), s.do(n, evil, 1, victim), settle(n.sys)); err != nil {
				return err
			}
			last := regs.DomainLastValid | uint64(s.kind)<<regs.DomainLastType.LSB() | uint64(n.node<<4|evil)<<regs.DomainLastSrc.LSB() |
				uint64(1<<4|victim)<<regs.DomainLastDst.LSB() | 8<<regs.DomainLastPDID.LSB()
			err := errors.Join(to.expect(regs.DomainRefused, uint64(tries)), to.expect(regs.DomainLast, last), to.expect(regs.IRQStatus, regs.IRQStatusError))
			if s.found != 0 {
				notis++
				noti, told := n.lastTold(evil, notis)
				if err = errors.Join(err, told); err == nil && (noti.Error != regs.RMAErrorDomain || noti.Unit != s.found || noti.PeerNode != 1 || noti.PeerVPID != victim) {
					err = fmt.Errorf("told %+v", noti)
				}
			}
			if err != nil {
				return fmt.Errorf("%s from node %d: %w", s.what, n.node, err)
			}
		}
		if !bytes.Equal(own, n.page(evil)) {
			return fmt.Errorf("node %d: the process that was refused has got something", n.node)
		}
	}
	if err := errors.Join(to.expect(regs.MboxWP(victim), 0), to.expect(regs.NotiWP(victim), 0), to.expect(regs.RXDropped, 2)); err != nil {
		return err
	}
	if !bytes.Equal(before, to.page(victim)) {
		return errors.New("the page of the other domain has changed")
	}
	return friends(nics, friend, victim, uint64(tries))
}

// friends has a process of the same domain do all that others could not.
func friends(nics []*nic, friend, with uint8, refused uint64) error {
	for _, n := range nics {
		for _, s := range strangers() {
			if err := s.do(n, friend, 1, with); err != nil {
				return err
			}
		}
	}
	if err := settle(nics[1].sys); err != nil {
		return err
	}
	for _, n := range nics {
		for i := range 2 { // get and fetch are told at their origin
			if noti, err := n.lastTold(friend, 2); err != nil || noti.Error != 0 {
				return fmt.Errorf("node %d: notification %d: %+v, %w", n.node, i, noti, err)
			}
		}
	}
	// A put, an immediate put, a notification, and what a get and a fetch tell their target, of each.
	return errors.Join(nics[1].expect(regs.MboxWP(with), 2), nics[1].expect(regs.NotiWP(with), 10), nics[1].expect(regs.DomainRefused, refused))
}

func testDomainChange(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const box, slots, sends = 1, 2, 12
	from, to := nics[0], nics[1]
	if err := errors.Join(from.join(0, 7), to.join(box, 7), to.resize(box, slots)); err != nil {
		return err
	}
	for i := range sends {
		if err := from.send(regs.PioFields{DstNode: 1, DstVPID: box}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if idle, err := quiesce(to.sys); err != nil || idle {
		return fmt.Errorf("the mailbox does not stall: idle %t, %w", idle, err)
	}
	if err := errors.Join(to.join(box, 8), settle(to.sys)); err != nil {
		return err
	}
	// The first is looked at in the very cycle of the change, which switches the mailbox off too: that
	// is why it is dropped. Its domain is compared a cycle later.
	return errors.Join(to.expect(regs.MboxWP(box), 0), to.expect(regs.RXPackets, slots), to.expect(regs.RXDropped, sends-slots),
		to.expect(regs.DomainRefused, sends-slots-1))
}
