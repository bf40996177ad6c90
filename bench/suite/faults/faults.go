// Package faults tests that no message is lost or duplicated while parts of the machine fail.
package faults

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// Tests break something while messages and collectives are under way: all
// arrive once, or the run ends with an error that says what happened.
func Tests() []regress.Test {
	test := func(name, doc string, run func(*regress.T) error, tags ...string) regress.Test {
		return regress.Test{Name: "faults/" + name, Tags: append([]string{"faults"}, tags...), Doc: doc, Run: run}
	}
	return []regress.Test{
		test("errors-1e-6", "one flit in a million corrupted, put rendezvous", noisy(1e-6, 0, host.RPUT), regress.Deep),
		test("errors-1e-5", "flits corrupted at 1e-5, get rendezvous", noisy(1e-5, 0, host.RGET), regress.Deep),
		test("errors-1e-4", "flits corrupted at 1e-4, chunked rendezvous", noisy(1e-4, 0, host.Chunked), regress.Deep),
		test("errors-1e-3", "flits corrupted at 1e-3, get rendezvous", noisy(1e-3, 0, host.RGET)),
		test("losses-1e-4", "flits lost at 1e-4, get rendezvous", noisy(0, 1e-4, host.RGET), regress.Deep),
		test("losses-1e-3", "flits lost at 1e-3, put rendezvous", noisy(0, 1e-3, host.RPUT)),
		test("link-flaps", "a link that fails and recovers repeatedly", testLinkFlaps),
		test("link-gone", "a link that fails for good: a verdict, not a hang", testLinkGone),
		test("atu", "a page is unmapped in the middle of a large get", testUnmapInGet),
		test("pages-rget", "pages unmapped during messages, get rendezvous", testPages(host.RGET)),
		test("pages-rput", "pages unmapped during messages, put rendezvous", testPages(host.RPUT)),
		test("pages-chunked", "pages unmapped during messages, chunked rendezvous", testPages(host.Chunked)),
		test("pages-spec", "pages unmapped during messages, speculative rendezvous", testPages(host.Spec)),
		test("losses-spec", "flits lost at 1e-3, speculative rendezvous", noisy(0, 1e-3, host.Spec)),
		test("mailbox-full", "mailboxes of one slot per peer without flow control", testFullBoxes),
		test("notifications-full", "more notifications than their ring holds", testFullNotifications),
		killed(),
	}
}

// killed ends the simulator at a wall-clock time, so that the kill hits any of its states.
func killed() regress.Test {
	return regress.Test{
		Name: "faults/killed", Tags: []string{"faults"}, Run: testKilled, WallClock: true,
		Doc: "the simulator is killed under traffic: a typed error within a second",
	}
}

// noisy wires have a rate of faults per flit.
func noisy(errorRate, lossRate float64, p host.Rendezvous) func(*regress.T) error {
	return func(t *regress.T) error {
		seed := t.Rand.Uint64()
		l, err := broken(t, messageConfig(p), func(sys drivers.Timed) error {
			nics := nicsOf(sys)
			if err := nics[0].Require(regs.WireCtrl(0), "wires with faults between the nodes"); err != nil {
				return err
			}
			return nictest.SetWireFaults(nics, seed, errorRate, lossRate)
		}, mixed)
		if err != nil {
			return err
		}
		t.Notef("%v", l)
		if rate := errorRate + lossRate; rate >= 1e-4 && (l.injected == 0 || l.repaired == 0) {
			return fmt.Errorf("%d faults and %d words retransmitted: expected some at a rate of %g", l.injected, l.repaired, rate)
		}
		return nil
	}
}

func nicsOf(sys drivers.Timed) []*nictest.NIC {
	nics := make([]*nictest.NIC, sys.Info().Nodes)
	for n := range nics {
		nics[n] = &nictest.NIC{Sys: sys, Dev: sys.Device(n), Node: n, Stride: nictest.BoxBytes}
	}
	return nics
}

// testLinkFlaps takes the carrier from a link for a while, in intervals that
// are drawn, as long as the traffic may last.
func testLinkFlaps(t *regress.T) error {
	const flaps = 40
	l, err := broken(t, messageConfig(host.RGET), func(sys drivers.Timed) error {
		if err := nicsOf(sys)[0].Require(regs.WireCtrl(0), "wires with faults between the nodes"); err != nil {
			return err
		}
		at := sys.Now()
		for range flaps {
			at += drivers.Cycle(1000 + t.Rand.Intn(4000))
			sys.PostReg(0, at, regs.WireCtrl(0), regs.WireCtrlDown)
			at += drivers.Cycle(200 + t.Rand.Intn(2000))
			sys.PostReg(0, at, regs.WireCtrl(0), 0)
		}
		return nil
	}, mixed)
	if err != nil {
		return err
	}
	t.Notef("%v", l)
	if l.failures == 0 {
		return errors.New("no link failed: expected it to go down in traffic")
	}
	return nil
}

// testLinkGone: what waits for a link for ever is a stall of the hardware, and
// the verdict says so.
func testLinkGone(t *regress.T) error {
	l, err := broken(t, messageConfig(host.RGET), func(sys drivers.Timed) error {
		if err := nicsOf(sys)[0].Require(regs.WireCtrl(0), "wires with faults between the nodes"); err != nil {
			return err
		}
		sys.PostReg(0, sys.Now()+5000, regs.WireCtrl(0), regs.WireCtrlDown)
		return nil
	}, mixed)
	if errors.Is(err, drivers.ErrNotSupported) {
		return err
	}
	var v *bench.Verdict
	if !errors.As(err, &v) {
		return fmt.Errorf("got %v, expected a hang verdict", err)
	}
	if v.Class != bench.RTLStall {
		return fmt.Errorf("verdict %q, expected %q: %w", v.Class, bench.RTLStall, v)
	}
	t.Notef("stalled as expected, verdict after %v of simulated time; %d of 4 ranks finished, %d hangs", v.At, v.Finished, l.hangs)
	return nil
}

// testUnmapInGet takes the translation of page 5 of 8 away while page 0 is on its
// way: nothing of page 5 may come, all the rest must, and the origin is told.
func testUnmapInGet(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	const gone, page, n = 5, 4096, nictest.RawPages * 4096
	near, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	t.Rand.Read(far[nictest.RawData : nictest.RawData+n])
	get := regs.RMADescFields{Command: regs.RMACommandGet, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: n - 1}
	if err := nics[0].Post(get, 0, 0); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := nics[0].Sys.Run(nics[0].Sys.Now()+2000, &stop); err != nil {
		return err
	}
	entry := binary.LittleEndian.Uint64(far[nictest.RawTable+8*gone:])
	binary.LittleEndian.PutUint64(far[nictest.RawTable+8*gone:], 0)
	if err := nictest.Settle(nics[0].Sys); err != nil {
		return err
	}
	got, want := near[nictest.RawData:nictest.RawData+n], bytes.Clone(far[nictest.RawData:nictest.RawData+n])
	clear(want[gone*page : (gone+1)*page])
	if !bytes.Equal(got, want) {
		return errors.New("memory after the get is not what all pages but the unmapped one hold")
	}
	told, faults := 0, 0
	for ; ; told++ {
		_, noti := nics[0].Notification(told)
		if noti.Seq != uint16(told+1) {
			break
		}
		if noti.Error == 0 {
			continue
		}
		faults++
		if noti.Error != regs.RMAErrorTranslation || noti.Unit != regs.RMAUnitResponder {
			return fmt.Errorf("notification %d: %+v, expected a translation fault of the responder", told, noti)
		}
	}
	if want := page / regs.RMAMTU; faults != want {
		return fmt.Errorf("%d faults notified, expected %d, one for each fragment of the page", faults, want)
	}
	binary.LittleEndian.PutUint64(far[nictest.RawTable+8*gone:], entry)
	if err := nics[0].Post(get, 0, 0); err != nil {
		return err
	}
	if err := nictest.Settle(nics[0].Sys); err != nil {
		return err
	}
	t.Notef("%d faults notified, no byte of the page was transferred; after mapping it again, the same get completed", faults)
	if !bytes.Equal(got, far[nictest.RawData:nictest.RawData+n]) {
		return errors.New("after mapping the page again the get did not bring all bytes")
	}
	return nil
}

// testFullBoxes: the network stalls behind full mailboxes and goes on.
func testFullBoxes(t *regress.T) error {
	c := messageConfig(host.RGET)
	c.Velo = velo.Config{Flow: velo.None, Slots: 1}
	l, err := broken(t, c, nil, intoOne)
	if err != nil {
		return err
	}
	t.Notef("%v", l)
	if l.stalls == 0 {
		return errors.New("no mailbox was ever full, expected mailboxes of three slots to fill")
	}
	return nil
}

// testFullNotifications puts more often than the target's ring has entries. The
// hardware waits; when software reads, the rest comes, in order.
func testFullNotifications(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	const puts = nictest.RawSlots + 40
	for i := range puts {
		d := regs.RMADescFields{Command: regs.RMACommandImmPut, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 7, Tag: uint16(i)}
		if err := nics[0].Post(d, uint64(i), uint64(8*i)); err != nil {
			return err
		}
	}
	idle, err := nictest.Quiesce(nics[0].Sys)
	if err != nil {
		return err
	}
	if idle {
		return errors.New("the hardware is empty, expected it to hold notifications for a full ring")
	}
	if err := nics[1].Expect(regs.NotiWP(nictest.RawVPID), nictest.RawSlots); err != nil {
		return err
	}
	for i := range puts {
		ext, noti := nics[1].Notification(i)
		if noti.Seq != uint16(i+1) || ext.Fields().Tag != uint16(i) {
			return fmt.Errorf("notification %d: %+v, %+v, expected tag %d", i, noti, ext.Fields(), i)
		}
		if got := binary.LittleEndian.Uint64(nics[1].Dev.Memory()[nictest.RawData+8*i:]); got != uint64(i) {
			return fmt.Errorf("put %d left %d", i, got)
		}
		if err := nics[1].Dev.WriteReg(regs.NotiRP(nictest.RawVPID), uint64(i+1)); err != nil {
			return err
		}
		if i+1 == puts {
			break
		}
		if _, err := nictest.Quiesce(nics[1].Sys); err != nil {
			return err
		}
	}
	stall, err := nics[1].Dev.ReadReg(regs.NotiStall(nictest.RawVPID))
	if err != nil {
		return err
	}
	t.Notef("%d puts notified, none lost, %d cycles stalled by a full ring", puts, stall)
	return errors.Join(nictest.Settle(nics[1].Sys), nics[1].Expect(regs.NotiWP(nictest.RawVPID), puts))
}

// testKilled kills the simulator in the middle of endless traffic, some time
// after the first message has arrived.
func testKilled(t *regress.T) error {
	var simulator *os.Process
	killed := make(chan time.Time, 1)
	kill := func() {
		killed <- time.Now()
		_ = simulator.Kill() // if it is gone already, the run tells
	}
	delay := time.Duration(50+t.Rand.Intn(150)) * time.Millisecond
	c := messageConfig(host.RGET)
	c.Nodes, c.Procs, c.Sizes = 2, 1, []int{1 << 16}
	c.Opened = func(sys drivers.Timed) error {
		p, ok := sys.(interface{ Pid() int })
		if !ok || p.Pid() == 0 {
			return fmt.Errorf("%w: %s has no simulator of its own that could die", drivers.ErrNotSupported, t.Device)
		}
		var err error
		simulator, err = os.FindProcess(p.Pid())
		return err
	}
	err := t.Launch(c, 8, func(r *host.Rank) error {
		buf, err := r.Alloc(c.Sizes[0])
		for k := 0; err == nil; k++ {
			if r.ID() == 0 {
				err = r.Send(1, 1, buf)
				continue
			}
			if k == 1 {
				time.AfterFunc(delay, kill)
			}
			_, err = r.Recv(0, 1, buf)
		}
		return err
	})
	if errors.Is(err, drivers.ErrNotSupported) {
		return err
	}
	if !errors.Is(err, drivers.ErrPeerDied) {
		return fmt.Errorf("got %v, expected %w", err, drivers.ErrPeerDied)
	}
	took := time.Since(<-killed)
	t.Notef("reported by a typed error, all ranks ended, 0 hangs")
	if took > time.Second {
		return fmt.Errorf("the run ended %v after the simulator, expected at most 1 s", took)
	}
	return nil
}
