package isolation

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// HoldTimes have full mailboxes and rings hold others no longer than they may.
func HoldTimes() []regress.Test {
	list := []regress.Test{
		{
			Name: "isolation/hold-mailbox", Tags: []string{"smoke"},
			Doc: "a full mailbox stalls others up to its limit, then drops packets; the next slot reports how many",
			Run: testHoldMailbox,
		},
		{
			Name: "isolation/hold-ring", Tags: []string{"smoke", "rma"},
			Doc: "a full notification ring stalls others up to its limit, then drops; a notification reports how many",
			Run: testHoldRing,
		},
	}
	for _, m := range misbehaviours {
		list = append(list, regress.Test{
			Name: "isolation/rate-" + m.name,
			Doc:  "others keep nine tenths of their rate beside a process with " + m.doc,
			Run:  func(t *regress.T) error { return testRate(t, &m) },
		})
	}
	return list
}

// holds lets mailbox and ring of a process hold others for some cycles.
func holds(vpid uint8, mailbox, ring uint64) nictest.RegWrite {
	return nictest.Write(regs.Hold(vpid), mailbox<<regs.HoldMailbox.LSB()|ring<<regs.HoldRing.LSB())
}

func overflows(mailbox, ring uint64) uint64 {
	return mailbox<<regs.OverflowMailbox.LSB() | ring<<regs.OverflowRing.LSB()
}

func testHoldMailbox(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const bad, good, slots, sends, cycles = 1, 2, 2, 9, 300
	from, to := nics[0], nics[1]
	if err := errors.Join(from.EnableAll(0, 7), to.EnableAll(bad, 7), to.EnableAll(good, 7), to.Expect(regs.Hold(bad), 0xffffff_00ffffff),
		to.ResizeMailbox(bad, slots), to.Set(holds(bad, cycles, 1<<24-1))); err != nil {
		return err
	}
	start := to.Sys.Now()
	for i := range sends {
		if err := from.Send(regs.PioFields{DstNode: 1, DstVPID: bad}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if err := errors.Join(from.Send(regs.PioFields{DstNode: 1, DstVPID: good}, []byte("good")), nictest.Settle(to.Sys)); err != nil {
		return err
	}
	if took := to.Sys.Now() - start; took < cycles || took > cycles+300 {
		return fmt.Errorf("it held others for about %d cycles, expected %d", took, cycles)
	}
	if err := errors.Join(to.Expect(regs.MboxWP(bad), slots), to.Expect(regs.MboxWP(good), 1), to.Expect(regs.Overflow(bad), overflows(sends-slots, 0)),
		to.Expect(regs.Hold(bad), holds(bad, 0, 1<<24-1).Value), to.Expect(regs.IRQStatus, regs.IRQStatusError|regs.IRQStatusStall),
		to.Expect(regs.MboxStall(bad), cycles)); err != nil {
		return err
	}
	// Room: the next packet tells that some are missing, the one behind it does not.
	for i := range 2 {
		if err := errors.Join(to.Set(nictest.Write(regs.MboxRP(bad), uint64(i+1))), from.Send(regs.PioFields{DstNode: 1, DstVPID: bad}, []byte("next")), nictest.Settle(to.Sys)); err != nil {
			return err
		}
		h := regs.Slot(binary.LittleEndian.Uint64(to.Dev.Memory()[nictest.OwnArea(bad)+uint64(i)*regs.SlotBytes+regs.SlotHdrOff:]))
		if h.Overflow() != (i == 0) || int(h.Seq()) != slots+i+1 {
			return fmt.Errorf("slot %d: %+v", i, h.Fields())
		}
	}
	return nil
}

func testHoldRing(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const bad, good, slots, puts, cycles = 1, 2, 2, 9, 300
	from, to := nics[0], nics[1]
	if err := errors.Join(from.EnableAll(0, 7), to.EnableAll(bad, 7), to.EnableAll(good, 7), to.Set(nictest.Write(regs.NotiCtrl(bad), 0), nictest.Write(regs.NotiSlots(bad), slots),
		nictest.Write(regs.NotiCtrl(bad), regs.NotiCtrlEnable), holds(bad, 1<<24-1, cycles))); err != nil {
		return err
	}
	tell := func(vpid uint8) error {
		return from.PostAs(0, regs.RMADescFields{Command: regs.RMACommandNotiPut, DstNode: 1, DstVPID: vpid, NotiCompleter: true}, 5, 0)
	}
	for range puts {
		if err := tell(bad); err != nil {
			return err
		}
	}
	if err := errors.Join(tell(good), nictest.Settle(to.Sys)); err != nil {
		return err
	}
	if err := errors.Join(to.Expect(regs.NotiWP(bad), slots), to.Expect(regs.NotiWP(good), 1), to.Expect(regs.Overflow(bad), overflows(0, puts-slots)),
		to.Expect(regs.Hold(bad), holds(bad, 1<<24-1, 0).Value), to.Expect(regs.RMAStallVPID, bad),
		to.Expect(regs.IRQStatus, regs.IRQStatusError|regs.IRQStatusStall)); err != nil {
		return err
	}
	if err := errors.Join(to.Set(nictest.Write(regs.NotiRP(bad), slots)), tell(bad), nictest.Settle(to.Sys), to.Expect(regs.NotiWP(bad), slots+2)); err != nil {
		return err
	}
	// In place of the two that were read: that some are missing, then the one that came.
	at := to.Dev.Memory()[nictest.OwnArea(bad)+nictest.OwnRing:]
	got, next := regs.RMANoti(binary.LittleEndian.Uint64(at[8:])).Fields(), regs.RMANoti(binary.LittleEndian.Uint64(at[24:])).Fields()
	if dropped := binary.LittleEndian.Uint64(at); dropped != puts-slots || got != (regs.RMANotiFields{Error: regs.RMAErrorOverflow, Last: true, Seq: slots + 1}) || next.Seq != slots+2 || next.Error != 0 {
		return fmt.Errorf("notification of %d dropped ones: %+v, then %+v", dropped, got, next)
	}
	return nil
}

// ---- rates ----

// A misbehaviour is what one process does beside another that does its work.
type misbehaviour struct {
	name, doc string
	post      func(r *rateRun, i int) error       // its i-th line
	slots     int                                 // of its ring and its mailbox
	step      func(r *rateRun) []nictest.RegWrite // what it writes now and then; nil: it reads nothing
}

const (
	rateGood, rateBad = 1, 2
	rateRounds        = 150
	rateHold          = 500
	rateBoxes         = 4096 // slots that never fill
)

// A rateRun is a good and a bad process on two nodes.
type rateRun struct {
	nics []*nictest.NIC
	t    *regress.T
	n    int // steps
}

func (r *rateRun) mail(int) error {
	return r.nics[0].Send(regs.PioFields{SrcVPID: rateBad, DstNode: 1, DstVPID: rateBad}, []byte("bad"))
}

func (r *rateRun) post(d regs.RMADescFields) error {
	d.DstVPID = rateBad
	return r.nics[0].PostAs(rateBad, d, nictest.NLAOf(rateBad, 0), nictest.NLAOf(rateBad, 0))
}

func (r *rateRun) tell(int) error {
	return r.post(regs.RMADescFields{Command: regs.RMACommandNotiPut, DstNode: 1, NotiCompleter: true})
}

func (r *rateRun) wrong(int) error { return r.post(regs.RMADescFields{Command: 9, DstNode: 1}) }

func (r *rateRun) getTold(int) error {
	return r.post(regs.RMADescFields{Command: regs.RMACommandGet, DstNode: 1, BytesMinus1: 7, NotiResponder: true})
}

func (r *rateRun) get(int) error {
	return r.post(regs.RMADescFields{Command: regs.RMACommandGet, DstNode: 1, BytesMinus1: 7, NotiCompleter: true})
}

func (r *rateRun) all(i int) error {
	return []func(int) error{r.mail, r.tell, r.wrong, r.getTold, r.get}[i%5](i)
}

var misbehaviours = []misbehaviour{
	{"mailbox", "a mailbox that it does not read", (*rateRun).mail, 4, nil},
	{"ring", "a ring that it does not read", (*rateRun).tell, 4, nil},
	{"wrong", "wrong descriptors and a ring that it does not read", (*rateRun).wrong, 4, nil},
	{"responder", "gets that notify a ring which is not read", (*rateRun).getTold, 4, nil},
	{"answers", "responses that notify a ring which its owner does not read", (*rateRun).get, 4, nil},
	{"pointers", "impossible read pointers", (*rateRun).all, 4, func(r *rateRun) []nictest.RegWrite {
		return []nictest.RegWrite{nictest.Write(regs.MboxRP(rateBad), r.t.Rand.Uint64()), nictest.Write(regs.NotiRP(rateBad), r.t.Rand.Uint64())}
	}},
	{"dribble", "read pointers that move by one, now and then", (*rateRun).all, 4, func(r *rateRun) []nictest.RegWrite {
		return []nictest.RegWrite{nictest.Write(regs.MboxRP(rateBad), uint64(r.n)), nictest.Write(regs.NotiRP(rateBad), uint64(r.n))}
	}},
	{"one", "a mailbox and a ring of one entry", (*rateRun).all, 1, func(r *rateRun) []nictest.RegWrite {
		return []nictest.RegWrite{nictest.Write(regs.MboxRP(rateBad), uint64(r.n)), nictest.Write(regs.NotiRP(rateBad), uint64(r.n))}
	}},
	{"switches", "a ring and a mailbox that go off and on all the time", (*rateRun).all, 1, func(r *rateRun) []nictest.RegWrite {
		on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
		return []nictest.RegWrite{nictest.Write(regs.NotiCtrl(rateBad), 0), nictest.Write(regs.NotiCtrl(rateBad), on), nictest.Write(regs.MboxCtrl(rateBad), 0), nictest.Write(regs.MboxCtrl(rateBad), on),
			nictest.Write(regs.NotiCtrl(rateBad), regs.NotiCtrlEnable), nictest.Write(regs.NotiCtrl(rateBad), on)}
	}},
	{"nothing", "a mailbox and a ring of no entries, then of other sizes", (*rateRun).all, 0, func(r *rateRun) []nictest.RegWrite {
		on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
		return []nictest.RegWrite{nictest.Write(regs.MboxCtrl(rateBad), 0), nictest.Write(regs.MboxSlots(rateBad), uint64(r.n%3)), nictest.Write(regs.MboxCtrl(rateBad), on),
			nictest.Write(regs.NotiCtrl(rateBad), 0), nictest.Write(regs.NotiSlots(rateBad), uint64(r.n%3)), nictest.Write(regs.NotiCtrl(rateBad), on)}
	}},
}

// harmless are as many writes that change nothing. Behind PCIe, and behind AXI with one ID,
// registers and send windows share a way, which is the host's to share out: there the process
// beside which the good one is compared writes as often.
func (m *misbehaviour) harmless() func(r *rateRun) []nictest.RegWrite {
	if m.step == nil {
		return nil
	}
	return func(r *rateRun) []nictest.RegWrite {
		list := m.step(r)
		for i := range list {
			list[i] = nictest.Write(regs.IRQMask, 0)
		}
		return list
	}
}

// testRate compares how long the good process needs beside one that does the same but has room for
// all that comes, and beside one that misbehaves.
func testRate(t *regress.T, m *misbehaviour) error {
	var took [2]drivers.Cycle
	for i := range took {
		r := &rateRun{t: t}
		var err error
		if r.nics, err = nictest.OpenNICs(t, 2); err != nil {
			return err
		}
		slots, step := rateBoxes, (func(*rateRun) []nictest.RegWrite)(nil)
		if r.nics[0].PostsInOrder() {
			step = m.harmless()
		}
		if i == 1 {
			slots, step = m.slots, m.step
		}
		if took[i], err = r.run(m, slots, step); err != nil {
			return err
		}
	}
	rate := float64(took[0]) / float64(took[1])
	t.Notef("%d cycles, beside %s %d: %.0f %%", took[0], m.doc, took[1], 100*rate)
	if rate < 0.9 {
		return fmt.Errorf("the rate of others falls to %.2f", rate)
	}
	return nil
}

// run has the good process send and put, the bad one post as many lines, and tells when all of the
// good one's has arrived.
func (r *rateRun) run(m *misbehaviour, slots int, step func(*rateRun) []nictest.RegWrite) (drivers.Cycle, error) {
	on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
	for _, n := range r.nics {
		err := errors.Join(n.EnableAll(rateGood, 7), n.EnableAll(rateBad, 8),
			n.Set(nictest.Write(regs.MboxCtrl(rateGood), 0), nictest.Write(regs.NotiCtrl(rateGood), 0), nictest.Write(regs.MboxCtrl(rateBad), 0), nictest.Write(regs.NotiCtrl(rateBad), 0),
				nictest.Write(regs.MboxBase(rateGood), 4*nictest.BoxBytes), nictest.Write(regs.MboxSlots(rateGood), rateBoxes/4), nictest.Write(regs.NotiBase(rateGood), 10*nictest.BoxBytes), nictest.Write(regs.NotiSlots(rateGood), rateBoxes),
				nictest.Write(regs.MboxBase(rateBad), 5*nictest.BoxBytes), nictest.Write(regs.MboxSlots(rateBad), uint64(slots)), nictest.Write(regs.NotiBase(rateBad), 11*nictest.BoxBytes), nictest.Write(regs.NotiSlots(rateBad), uint64(slots)),
				nictest.Write(regs.MboxCtrl(rateGood), on), nictest.Write(regs.NotiCtrl(rateGood), on), nictest.Write(regs.MboxCtrl(rateBad), on), nictest.Write(regs.NotiCtrl(rateBad), on),
				holds(rateBad, rateHold, rateHold)))
		if err != nil {
			return 0, err
		}
	}
	start := r.nics[0].Sys.Now()
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstNode: 1, DstVPID: rateGood, BytesMinus1: 511, NotiCompleter: true}
	for i := range rateRounds {
		if err := errors.Join(r.nics[0].PostAs(rateGood, put, nictest.NLAOf(rateGood, 0), nictest.NLAOf(rateGood, 1024)), m.post(r, i),
			r.nics[0].Send(regs.PioFields{SrcVPID: rateGood, DstNode: 1, DstVPID: rateGood}, make([]byte, 56))); err != nil {
			return 0, err
		}
	}
	return r.wait(start, step)
}

func (r *rateRun) wait(start drivers.Cycle, step func(*rateRun) []nictest.RegWrite) (drivers.Cycle, error) {
	to, pause := r.nics[1], drivers.Cycle(40)
	if step != nil && to.Require(simregs.AXIFunction, "") == nil {
		pause = drivers.Cycle(40 * len(step(r))) // a host that is asked for more writes than its bus carries does nothing else
	}
	for r.n = 0; r.n < 20000; r.n++ {
		if step != nil {
			for _, n := range r.nics {
				for _, w := range step(r) {
					if err := n.Dev.WriteReg(w.Reg, w.Value); err != nil {
						return 0, err
					}
				}
			}
		}
		var bus *drivers.BusError
		var stop drivers.Stop
		if err := to.Sys.Run(to.Sys.Now()+pause, &stop); err != nil && !errors.As(err, &bus) {
			return 0, err
		}
		box := to.Dev.Memory()[4*nictest.BoxBytes+(rateRounds-1)*regs.SlotBytes+regs.SlotHdrOff:]
		ring := to.Dev.Memory()[10*nictest.BoxBytes+(rateRounds-1)*regs.NotiBytes+8:]
		if regs.Slot(binary.LittleEndian.Uint64(box)).Seq() == rateRounds && regs.RMANoti(binary.LittleEndian.Uint64(ring)).Seq() == rateRounds {
			return to.Sys.Now() - start, nil
		}
	}
	return 0, errors.New("the good process does not come to an end")
}
