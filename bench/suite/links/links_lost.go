package links

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// testLinkDrain takes the carrier from the wire between nodes 0 and 1 of a 2 x 2 mesh, or has it
// swallow all, while node 0 sends to node 1 and, behind that, to node 2. With drain set the packets
// for node 1 are discarded and counted, and those for node 2 arrive as if the wire were whole;
// without they all wait. When the wire is back nothing is missing but what was told.
func testLinkDrain(t *regress.T) error {
	m, err := newWired(t, 4)
	if err != nil {
		return err
	}
	a, b := m.nics[0], m.nics[1]
	if err := errors.Join(a.Set(nictest.Write(regs.LinkPatience(0), 300)), b.Set(nictest.Write(regs.LinkPatience(1), 300)),
		a.Expect(regs.LinkCtrl(0), 0), a.Set(nictest.Write(regs.LinkCtrl(0), regs.LinkCtrlDrain)), a.Expect(regs.LinkCtrl(0), regs.LinkCtrlDrain)); err != nil {
		return err
	}
	for round := range 8 {
		if err := m.drainRound(round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	drained, err := a.Dev.ReadReg(regs.LinkDrained(0))
	if err != nil {
		return err
	}
	if drained < 8 {
		return fmt.Errorf("%d packets were drained in 8 rounds: the scenario lost its point (seed %d)", drained, t.Seed)
	}
	t.Notef("%d packets drained, %d cut", drained, m.sum-m.taken-int(drained))
	// Without drain they wait, and those behind them.
	if err := errors.Join(a.Set(nictest.Write(regs.LinkCtrl(0), 0)), b.Set(nictest.Write(regs.LinkPatience(1), 0)), a.Set(nictest.Write(regs.WireCtrl(0), regs.WireCtrlDown)), m.mixedPosts(40)); err != nil {
		return err
	}
	if idle, err := nictest.Quiesce(a.Sys); err != nil || idle {
		return errors.Join(err, errors.New("the hardware is empty, expected packets to wait for a link that does not drain"))
	}
	if err := errors.Join(a.Set(nictest.Write(regs.WireCtrl(0), 0)), m.receiveAll(), a.Expect(regs.LinkDrained(0), drained)); err != nil {
		return err
	}
	return m.accounted()
}

// mixedPosts sends from node 0 to nodes 1 and 2 alternately.
func (m *numbered) mixedPosts(packets int) error {
	for k := range packets {
		if err := m.postTo(0, 1+k%2); err != nil {
			return err
		}
	}
	return nil
}

func (m *numbered) drainRound(round int) error {
	a := m.nics[0]
	fail, mend := nictest.Write(regs.WireCtrl(0), regs.WireCtrlDown), nictest.Write(regs.WireCtrl(0), 0)
	if round%2 == 1 {
		fail, mend = nictest.Write(regs.WireLosses(0), 1<<32-1), nictest.Write(regs.WireLosses(0), 0)
	}
	if err := errors.Join(m.mixedPosts(20), m.run(drivers.Cycle(40+m.t.Rand.Intn(100))), a.Set(fail), m.mixedPosts(40)); err != nil {
		return err
	}
	if err := m.run(6000); err != nil { // until it is found dead, and its patience ends
		return err
	}
	if p := [2]int{0, 2}; m.got[p] != m.sent[p] {
		return fmt.Errorf("%d of %d packets for node 2 arrived: they wait behind those for a wire that failed (seed %d)", m.got[p], m.sent[p], m.t.Seed)
	}
	if status, err := a.Dev.ReadReg(regs.LinkStatus(0)); err != nil || status&regs.LinkStatusDrains == 0 {
		return errors.Join(err, fmt.Errorf("LINK_STATUS is 0x%x, expected drains", status))
	}
	// Nothing is to be seen of it any more: what goes past it takes the time that it always takes.
	start := a.Sys.Now()
	if err := m.mixedPosts(60); err != nil {
		return err
	}
	for p := [2]int{0, 2}; m.got[p] != m.sent[p]; {
		if err := m.run(20); err != nil {
			return err
		}
		if a.Sys.Now() > start+3000 {
			return fmt.Errorf("%d of %d packets for node 2 arrived in 3,000 cycles beside a wire that failed (seed %d)", m.got[p], m.sent[p], m.t.Seed)
		}
	}
	if err := errors.Join(a.Set(mend), m.receiveAll()); err != nil {
		return err
	}
	return m.accounted()
}

// run lets cycles pass and reads all mailboxes meanwhile. Packets may be missing, but must not
// overtake each other.
func (m *numbered) run(cycles drivers.Cycle) error {
	sys := m.nics[0].Sys
	var stop drivers.Stop
	for end := sys.Now() + cycles; sys.Now() < end; {
		if err := sys.Run(min(sys.Now()+200, end), &stop); err != nil {
			return err
		}
		if err := m.readMailboxes(); err != nil {
			return err
		}
	}
	return nil
}

// readMailboxes takes all packets that have arrived.
func (m *numbered) readMailboxes() error {
	n, err := nictest.TakeAll(m.nics, 1, func(to, from int, k uint32) error {
		p := [2]int{from, to}
		if k < m.got[p] {
			return fmt.Errorf("from node %d to %d: packet %d again, or too late: expected %d or later (seed %d)", from, to, k, m.got[p], m.t.Seed)
		}
		m.got[p] = k + 1
		return nil
	})
	m.taken += n
	return err
}

// receiveAll reads the mailboxes until the hardware is empty, however long that takes: a full
// mailbox holds back the network, so a test that stops reading sees a network that stands still and
// packets that are neither received nor reported lost. Hardware in which nothing moves although
// every mailbox has just been emptied is deadlocked.
func (m *numbered) receiveAll() error {
	for {
		idle, err := nictest.Quiesce(m.nics[0].Sys)
		if err != nil {
			return err
		}
		before := m.taken
		if err := m.readMailboxes(); err != nil {
			return err
		}
		switch {
		case m.taken != before:
		case idle:
			return nil
		default:
			return fmt.Errorf("deadlock: nothing moves, all mailboxes are empty, and the network still holds packets (%d sent, %d received, seed %d)",
				m.sum, m.taken, m.t.Seed)
		}
	}
}

// accounted: every packet that was sent arrived, or was told to be lost, by the link or by the node
// that found it cut.
func (m *numbered) accounted() error {
	var told uint64
	for _, n := range m.nics {
		v, err := n.Dev.ReadReg(regs.RXCRCErrors)
		if err := errors.Join(err, n.Expect(regs.RXDropped, 0), n.Expect(regs.RouteErrors, 0)); err != nil {
			return err
		}
		told += v
	}
	for _, at := range []func(uint8) uint32{regs.LinkDrained, regs.LinkLost} {
		v, err := linkCount(m.nics, at)
		if err != nil {
			return err
		}
		told += v
	}
	if uint64(m.sum-m.taken) != told {
		return fmt.Errorf("%d packets sent, %d arrived, %d counted as lost (seed %d)", m.sum, m.taken, told, m.t.Seed)
	}
	return nil
}

// linkResets resets ends of links at random cycles, now and then both ends of one, while everybody
// sends to everybody.
func linkResets(shape string, rate float64) func(*regress.T) error {
	return func(t *regress.T) error {
		if shape != "" {
			if err := nictest.Reshape(t, shape); err != nil {
				return err
			}
		}
		m, err := newWired(t, 4)
		if err != nil {
			return err
		}
		if err := nictest.SetWireFaults(m.nics, t.Rand.Uint64(), rate, rate); err != nil {
			return err
		}
		for round := range 40 {
			if err := errors.Join(m.post(60), m.resetSome()); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		if err := errors.Join(nictest.SetWireFaults(m.nics, 1, 0, 0), m.receiveAll(), m.accounted(), m.agreed()); err != nil {
			return err
		}
		resets, err := linkCount(m.nics, regs.LinkResets)
		if err != nil {
			return err
		}
		lost, err := linkCount(m.nics, regs.LinkLost)
		if err != nil {
			return err
		}
		if resets < 80 || lost == 0 || m.taken < m.sum/2 {
			return fmt.Errorf("%d sessions ended, %d packets lost on links, %d of %d arrived: the scenario lost its point (seed %d)", resets, lost, m.taken, m.sum, t.Seed)
		}
		t.Notef("%d packets sent, %d arrived, %d lost on links, %d sessions ended", m.sum, m.taken, lost, resets)
		if irq, err := m.nics[0].Dev.ReadReg(regs.IRQStatus); err != nil || irq&regs.IRQStatusError == 0 {
			return errors.Join(err, fmt.Errorf("IRQ_STATUS is 0x%x, expected error", irq))
		}
		return nil
	}
}

// resetSome resets an end of a link at a time, three times, after some cycles each.
func (m *numbered) resetSome() error {
	for range 3 {
		if err := m.run(drivers.Cycle(m.t.Rand.Intn(150))); err != nil {
			return err
		}
		n := m.nics[m.t.Rand.Intn(len(m.nics))]
		link, err := m.linkOf(n)
		if err != nil {
			return err
		}
		if err := n.Set(nictest.Write(regs.LinkCtrl(link), regs.LinkCtrlReset)); err != nil {
			return err
		}
		if m.t.Rand.Intn(4) != 0 {
			continue
		}
		// The other end too: on a mesh of 2 x 2 a bit of the number of a node is a dimension.
		other := m.nics[n.Node^(1<<(link/2))]
		if err := errors.Join(m.run(drivers.Cycle(m.t.Rand.Intn(60))), other.Set(nictest.Write(regs.LinkCtrl(link^1), regs.LinkCtrlReset))); err != nil {
			return err
		}
	}
	return nil
}

// linkOf chooses a link that is connected.
func (m *numbered) linkOf(n *nictest.NIC) (uint8, error) {
	for {
		link := uint8(m.t.Rand.Intn(4))
		status, err := n.Dev.ReadReg(regs.LinkStatus(link))
		if err != nil || status&regs.LinkStatusConnected != 0 {
			return link, err
		}
	}
}

// agreed: all links are as after a reset of all.
func (m *numbered) agreed() error {
	for _, n := range m.nics {
		for link := range uint8(4) {
			status, err := n.Dev.ReadReg(regs.LinkStatus(link))
			if err != nil {
				return err
			}
			if status&regs.LinkStatusConnected != 0 && status != regs.LinkStatusConnected|regs.LinkStatusCarrier|regs.LinkStatusAgreed {
				return fmt.Errorf("node %d, link %d: LINK_STATUS is 0x%x, expected connected, carrier, agreed and nothing else", n.Node, link, status)
			}
		}
	}
	return nil
}

// soak is traffic of everybody to everybody while all that can happen to a link happens to some
// link, at random cycles.
func soak(name string, latency, packets int, tags ...string) regress.Test {
	return regress.Test{
		Name: fmt.Sprintf("links/soak%s-%d", name, latency), Tags: append([]string{"links"}, tags...),
		Doc: fmt.Sprintf("%d packets over wires of %d cycles with errors, cuts and resets: each arrives once and in order, or is counted as lost", packets, latency),
		Run: func(t *regress.T) error {
			if err := nictest.Reshape(t, fmt.Sprintf("wire_latency=%d", latency)); err != nil {
				return err
			}
			m, err := newWired(t, 4)
			if err != nil {
				return err
			}
			if err := nictest.SetWireFaults(m.nics, t.Rand.Uint64(), 0, 0); err != nil {
				return err
			}
			return m.soak(packets)
		},
	}
}

// A trouble befalls a link of a node: it begins, and is over some cycles later.
type trouble struct {
	n    *nictest.NIC
	link uint8
	mend []nictest.RegWrite
	over drivers.Cycle
}

// soak sends so many packets and, while some kind of trouble has not befallen any link, up to four
// times as many.
func (m *numbered) soak(packets int) error {
	var troubles []trouble
	for most := packets; ; most += packets / 4 {
		if err := m.soakUntil(most, &troubles); err != nil {
			return err
		}
		_, missing, err := m.soakCounts()
		if err != nil {
			return err
		}
		if missing == "" || most >= 4*packets {
			break
		}
	}
	for _, x := range troubles {
		if err := x.n.Set(x.mend...); err != nil {
			return err
		}
	}
	if err := errors.Join(m.receiveAll(), m.accounted(), m.agreed()); err != nil {
		return err
	}
	return m.soaked()
}

// soakUntil sends until there have been so many packets in all.
func (m *numbered) soakUntil(packets int, troubles *[]trouble) error {
	for m.sum < packets {
		if err := m.post(10 + m.t.Rand.Intn(40)); err != nil {
			return err
		}
		for waiting := true; waiting; waiting = m.backlog() > 2000 {
			if m.t.Rand.Intn(2) == 0 && len(*troubles) < 4 {
				x, err := m.befall()
				if err != nil {
					return err
				}
				*troubles = append(*troubles, x)
			}
			if err := m.run(drivers.Cycle(1 + m.t.Rand.Intn(400))); err != nil {
				return err
			}
			for i := len(*troubles) - 1; i >= 0; i-- {
				if x := (*troubles)[i]; x.over <= m.nics[0].Sys.Now() {
					if err := x.n.Set(x.mend...); err != nil {
						return err
					}
					*troubles = slices.Delete(*troubles, i, i+1)
				}
			}
		}
	}
	return nil
}

// backlog: packets that neither arrived nor, as far as the receivers can see, were lost.
func (m *numbered) backlog() (n int) {
	for p, sent := range m.sent {
		n += int(sent - m.got[p])
	}
	return n
}

// befall chooses a link and what happens to it.
func (m *numbered) befall() (trouble, error) {
	r := m.t.Rand
	x := trouble{n: m.nics[r.Intn(len(m.nics))]}
	var err error
	if x.link, err = m.linkOf(x.n); err != nil {
		return x, err
	}
	l := x.link
	x.over = x.n.Sys.Now() + drivers.Cycle(r.Intn(4000))
	begin := []nictest.RegWrite{nictest.Write(regs.LinkPatience(l), uint64(100+r.Intn(600))), nictest.Write(regs.LinkCtrl(l), uint64(min(1, r.Intn(4)))*regs.LinkCtrlDrain)}
	switch r.Intn(5) {
	case 0:
		begin, x.mend = append(begin, nictest.Write(regs.WireCtrl(l), regs.WireCtrlDown)), []nictest.RegWrite{nictest.Write(regs.WireCtrl(l), 0)}
	case 1:
		begin, x.mend = append(begin, nictest.Write(regs.WireLosses(l), 1<<32-1)), []nictest.RegWrite{nictest.Write(regs.WireLosses(l), 0)}
	case 2:
		begin, x.mend = append(begin, nictest.Write(regs.WireErrors(l), uint64(r.Intn(1<<28))), nictest.Write(regs.WireLosses(l), uint64(r.Intn(1<<28)))),
			[]nictest.RegWrite{nictest.Write(regs.WireErrors(l), 0), nictest.Write(regs.WireLosses(l), 0)}
	default:
		begin = append(begin, nictest.Write(regs.LinkCtrl(l), regs.LinkCtrlReset|uint64(r.Intn(2))*regs.LinkCtrlDrain))
	}
	return x, x.n.Set(begin...)
}

// soakCounts reads what happened to the links: sessions ended, packets lost, drained and cut, words
// corrupted, failures. missing names the first counter that is 0.
func (m *numbered) soakCounts() (sums [6]uint64, missing string, err error) {
	counts := []func(uint8) uint32{regs.LinkResets, regs.LinkLost, regs.LinkDrained, regs.LinkCut, regs.LinkCRCErrors, regs.LinkFailures}
	for i, at := range counts {
		if sums[i], err = linkCount(m.nics, at); err != nil {
			return sums, "", err
		}
		if sums[i] == 0 && missing == "" {
			missing = regs.Describe(at(0))
		}
	}
	return sums, missing, nil
}

// soaked: everything has happened to some link, and most packets arrived.
func (m *numbered) soaked() error {
	sums, missing, err := m.soakCounts()
	switch {
	case err != nil:
		return err
	case missing != "":
		return fmt.Errorf("%s counts 0 after %d packets: the scenario lost its point (seed %d)", missing, m.sum, m.t.Seed)
	case m.taken < m.sum/2:
		return fmt.Errorf("%d of %d packets arrived: the scenario lost its point (seed %d)", m.taken, m.sum, m.t.Seed)
	}
	m.t.Notef("%d packets sent, %d arrived; links: %d sessions ended, %d packets lost, %d drained, %d cut, %d words corrupted, %d failures",
		m.sum, m.taken, sums[0], sums[1], sums[2], sums[3], sums[4], sums[5])
	return nil
}
