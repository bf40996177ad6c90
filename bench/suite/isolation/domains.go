package isolation

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Domains have processes of different protection domains try to reach each other.
func Domains() []regress.Test {
	return []regress.Test{
		{
			Name: "isolation/domain-reset", Tags: []string{"smoke"},
			Doc: "after reset no process can send or receive, whatever is enabled",
			Run: testDomainReset,
		},
		{
			Name: "isolation/domain", Tags: []string{"smoke", "rma"},
			Doc: "a process cannot read or write pages of another domain, or reach its mailbox and ring; each attempt is counted, notified and captured",
			Run: testDomain,
		},
		{
			Name: "isolation/domain-change",
			Doc:  "packets stalled at a full mailbox are discarded when its process changes its domain",
			Run:  testDomainChange,
		},
	}
}

func testDomainReset(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	all := regs.MboxCtrlEnable | regs.MboxCtrlWindow
	for _, n := range nics {
		if err := n.Set(nictest.Write(regs.MboxSlots(0), nictest.OwnSlots), nictest.Write(regs.MboxCtrl(0), all), nictest.Write(regs.NotiBase(0), nictest.OwnRing),
			nictest.Write(regs.NotiSlots(0), nictest.OwnNotis), nictest.Write(regs.NotiCtrl(0), all)); err != nil {
			return err
		}
	}
	// Without a domain the windows take nothing.
	refused := func(what string, send func() error, count uint32) error {
		if err := send(); err != nil {
			return err
		}
		if err := nictest.Settle(from.Sys); !from.WasRefused(err) {
			return fmt.Errorf("%s of a process without a domain: got error %v, expected a refusal", what, err)
		}
		info, err := from.Dev.ReadReg(regs.ErrorInfo)
		if got := regs.DropReason(regs.ErrorInfoReason.Of(info)); err == nil && got != regs.DropReasonDomain {
			err = fmt.Errorf("%s was refused for %s", what, got)
		}
		return errors.Join(err, from.Expect(count, 1), from.Set(nictest.Write(regs.ErrorInfo, regs.ErrorInfoValid)))
	}
	mail := func() error { return from.Send(regs.PioFields{DstNode: 1}, []byte("mail")) }
	tell := func() error {
		return from.PostAs(0, regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstNode: 1}, 7, 0)
	}
	if err := errors.Join(refused("a send", mail, regs.TXDropped), refused("a descriptor", tell, regs.RMARefused)); err != nil {
		return err
	}
	// Nor does a process without one receive, from a domain or from number 0, which none is.
	if err := errors.Join(from.EnableAll(0, 5), mail(), tell(), nictest.Settle(from.Sys)); err != nil {
		return err
	}
	noti, err := from.LastNotification(0, 1)
	if err == nil && noti.Error != regs.RMAErrorDomain {
		err = fmt.Errorf("notification %+v, expected a refusal by the other domain", noti)
	}
	return errors.Join(err, to.Expect(regs.DomainRefused, 2), to.Expect(regs.RXDropped, 1), to.Expect(regs.MboxWP(0), 0), to.Expect(regs.NotiWP(0), 0))
}

// stranger is one try of a process to reach another.
type stranger struct {
	what  string
	kind  regs.PacketType
	found regs.RMAUnit // who refuses; 0: nobody is told of a send
	do    func(n *nictest.NIC, from uint8, toNode uint16, to uint8) error
}

func strangers() []stranger {
	post := func(c regs.RMACommand, w1, w2 func(from, to uint8) uint64) func(*nictest.NIC, uint8, uint16, uint8) error {
		return func(n *nictest.NIC, from uint8, toNode uint16, to uint8) error {
			d := regs.RMADescFields{Command: c, NotiRequester: false, NotiResponder: true, NotiCompleter: true, DstNode: toNode, DstVPID: to, BytesMinus1: 7}
			return n.PostAs(from, d, w1(from, to), w2(from, to))
		}
	}
	mine := func(from, _ uint8) uint64 { return nictest.NLAOf(from, 64) }
	theirs := func(_, to uint8) uint64 { return nictest.NLAOf(to, 64) }
	word := func(_, _ uint8) uint64 { return 0xffffffff_00000001 }
	return []stranger{
		{"a send", regs.PacketTypeVELO, 0, func(n *nictest.NIC, from uint8, toNode uint16, to uint8) error {
			return n.Send(regs.PioFields{SrcVPID: from, DstNode: uint8(toNode), DstVPID: to}, []byte("mine"))
		}},
		{"a put", regs.PacketTypeRMAPut, regs.RMAUnitCompleter, post(regs.RMACommandPut, mine, theirs)},
		{"a get", regs.PacketTypeRMAGetReq, regs.RMAUnitResponder, post(regs.RMACommandGet, theirs, mine)},
		{"an immediate put", regs.PacketTypeRMAImmPut, regs.RMAUnitCompleter, post(regs.RMACommandImmPut, word, theirs)},
		{"a notification", regs.PacketTypeRMANoti, regs.RMAUnitCompleter, post(regs.RMACommandNotiPut, word, word)},
		{"a fetch and add", regs.PacketTypeRMALockReq, regs.RMAUnitResponder, post(regs.RMACommandFCAA, word, theirs)},
	}
}

func testDomain(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const victim, evil, friend = 1, 2, 3
	to := nics[1]
	if err := to.EnableAll(victim, 7); err != nil {
		return err
	}
	for _, n := range nics {
		if err := errors.Join(n.EnableAll(evil, 8), n.EnableAll(friend, 7)); err != nil {
			return err
		}
		for v := range uint8(4) {
			t.Rand.Read(n.Page(v))
		}
	}
	before := bytes.Clone(to.Page(victim))
	tries := 0
	for _, n := range nics {
		own, notis := bytes.Clone(n.Page(evil)), 0
		for _, s := range strangers() {
			tries++
			if err := errors.Join(to.Set(nictest.Write(regs.IRQStatus, regs.IRQStatusError)), s.do(n, evil, 1, victim), nictest.Settle(n.Sys)); err != nil {
				return err
			}
			last := regs.DomainLastValid | uint64(s.kind)<<regs.DomainLastType.LSB() | uint64(n.Node<<4|evil)<<regs.DomainLastSrc.LSB() |
				uint64(1<<4|victim)<<regs.DomainLastDst.LSB() | 8<<regs.DomainLastPDID.LSB()
			err := errors.Join(to.Expect(regs.DomainRefused, uint64(tries)), to.Expect(regs.DomainLast, last), to.Expect(regs.IRQStatus, regs.IRQStatusError))
			if s.found != 0 {
				notis++
				noti, told := n.LastNotification(evil, notis)
				if err = errors.Join(err, told); err == nil && (noti.Error != regs.RMAErrorDomain || noti.Unit != s.found || noti.PeerNode != 1 || noti.PeerVPID != victim) {
					err = fmt.Errorf("unexpected notification %+v", noti)
				}
			}
			if err != nil {
				return fmt.Errorf("%s from node %d: %w", s.what, n.Node, err)
			}
		}
		if !bytes.Equal(own, n.Page(evil)) {
			return fmt.Errorf("node %d: the process that was refused has got something", n.Node)
		}
	}
	if err := errors.Join(to.Expect(regs.MboxWP(victim), 0), to.Expect(regs.NotiWP(victim), 0), to.Expect(regs.RXDropped, 2)); err != nil {
		return err
	}
	if !bytes.Equal(before, to.Page(victim)) {
		return errors.New("the page of the other domain has changed")
	}
	return friends(nics, friend, victim, uint64(tries))
}

// friends has a process of the same domain do all that others could not.
func friends(nics []*nictest.NIC, friend, with uint8, refused uint64) error {
	for _, n := range nics {
		for _, s := range strangers() {
			if err := s.do(n, friend, 1, with); err != nil {
				return err
			}
		}
	}
	if err := nictest.Settle(nics[1].Sys); err != nil {
		return err
	}
	for _, n := range nics {
		for i := range 2 { // get and fetch are told at their origin
			if noti, err := n.LastNotification(friend, 2); err != nil || noti.Error != 0 {
				return fmt.Errorf("node %d: notification %d: %+v, %w", n.Node, i, noti, err)
			}
		}
	}
	// A put, an immediate put, a notification, and what a get and a fetch tell their target, of each.
	return errors.Join(nics[1].Expect(regs.MboxWP(with), 2), nics[1].Expect(regs.NotiWP(with), 10), nics[1].Expect(regs.DomainRefused, refused))
}

func testDomainChange(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const box, slots, sends = 1, 2, 12
	from, to := nics[0], nics[1]
	if err := errors.Join(from.EnableAll(0, 7), to.EnableAll(box, 7), to.ResizeMailbox(box, slots)); err != nil {
		return err
	}
	for i := range sends {
		if err := from.Send(regs.PioFields{DstNode: 1, DstVPID: box}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if idle, err := nictest.Quiesce(to.Sys); err != nil || idle {
		return fmt.Errorf("the mailbox does not stall: idle %t, %w", idle, err)
	}
	if err := errors.Join(to.EnableAll(box, 8), nictest.Settle(to.Sys)); err != nil {
		return err
	}
	// The first is looked at in the very cycle of the change, which switches the mailbox off too: that
	// is why it is dropped. Its domain is compared a cycle later.
	return errors.Join(to.Expect(regs.MboxWP(box), 0), to.Expect(regs.RXPackets, slots), to.Expect(regs.RXDropped, sends-slots),
		to.Expect(regs.DomainRefused, sends-slots-1))
}
