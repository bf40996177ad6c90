// Package links tests the links between NICs and routes through several of them.
package links

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Links are tests of the network under faults: nothing may be lost, duplicated or reordered.
func Links() []regress.Test {
	return []regress.Test{
		{
			Name: "links/clean", Tags: []string{"links", "smoke"},
			Doc: "wires without faults: no retransmission, no timeout",
			Run: testCleanLinks,
		},
		{
			Name: "links/long", Tags: []string{"links", "smoke"},
			Doc: "wires of 50 cycles without faults: no retransmission",
			Run: testLongLinks,
		},
		{
			Name: "links/errors", Tags: []string{"links"},
			Doc: "words corrupted at 1e-3 on every wire",
			Run: wireFaults(1e-3, 0),
		},
		{
			Name: "links/losses", Tags: []string{"links"},
			Doc: "words lost at 1e-3 on every wire",
			Run: wireFaults(0, 1e-3),
		},
		{
			Name: "links/both", Tags: []string{"links", "smoke"},
			Doc: "words corrupted and lost at 1e-2 on every wire",
			Run: wireFaults(1e-2, 1e-2),
		},
		{
			Name: "links/down", Tags: []string{"links", "smoke"},
			Doc: "a link that goes down under traffic and recovers",
			Run: testLinkDown,
		},
		{
			Name: "links/cut", Tags: []string{"links", "smoke"},
			Doc: "a wire that fails in the middle of packets blocks no other traffic",
			Run: testLinkCut,
		},
		{
			Name: "links/drain", Tags: []string{"links", "smoke"},
			Doc: "packets for a failed wire are discarded and counted, and block no other traffic",
			Run: testLinkDrain,
		},
		{
			Name: "links/reset", Tags: []string{"links", "smoke"},
			Doc: "one or both ends of a link are reset under traffic: the ends synchronise again, lost packets are counted",
			Run: linkResets("", 0),
		},
		{
			Name: "links/reset-far", Tags: []string{"links"},
			Doc: "one or both ends of a link are reset under traffic, over wires of 30 cycles with faults",
			Run: linkResets("wire_latency=30", 3e-3),
		},
		soak("", 0, 4_000), soak("", 5, 4_000), soak("", 20, 4_000), soak("", 50, 4_000),
		soak("-long", 0, 250_000, regress.Deep), soak("-long", 5, 250_000, regress.Deep), soak("-long", 20, 250_000, regress.Deep), soak("-long", 50, 250_000, regress.Deep),
		{
			Name: "links/dead", Tags: []string{"links"},
			Doc: "a wire that loses every word is detected as failed and recovers",
			Run: testLinkDead,
		},
	}
}

// linkCount sums a register of all links of all nodes.
func linkCount(nics []*nictest.NIC, at func(uint8) uint32) (sum uint64, err error) {
	for _, n := range nics {
		for link := range uint8(6) {
			v, err := n.Dev.ReadReg(at(link))
			if err != nil {
				return 0, err
			}
			sum += v
		}
	}
	return sum, nil
}

// numbered sends packets that carry their number from every node to every other
// and takes them, each once and in order.
type numbered struct {
	t          *regress.T
	nics       []*nictest.NIC
	sent, got  map[[2]int]uint32
	sum, taken int
}

func newNumbered(t *regress.T, nodes int) (*numbered, error) {
	nics, err := nictest.OpenNICs(t, nodes)
	if err != nil {
		return nil, err
	}
	for _, n := range nics {
		if err := n.Enable(0, nictest.SlotsPerBox); err != nil {
			return nil, err
		}
	}
	return &numbered{t: t, nics: nics, sent: map[[2]int]uint32{}, got: map[[2]int]uint32{}}, nil
}

// newRouted is newNumbered on a device whose routes software writes.
func newRouted(t *regress.T, nodes int) (*numbered, error) {
	m, err := newNumbered(t, nodes)
	if err != nil {
		return nil, err
	}
	return m, m.nics[0].Require(regs.LinkStatus(0), "routes")
}

// newWired is newNumbered on a device whose wires have faults on request.
func newWired(t *regress.T, nodes int) (*numbered, error) {
	m, err := newNumbered(t, nodes)
	if err != nil {
		return nil, err
	}
	return m, m.nics[0].Require(regs.WireCtrl(0), "wires with faults between the nodes")
}

func (m *numbered) post(packets int) error {
	for range packets {
		if err := m.postTo(m.t.Rand.Intn(len(m.nics)), m.t.Rand.Intn(len(m.nics))); err != nil {
			return err
		}
	}
	return nil
}

// postTo sends the next packet from one node to another.
func (m *numbered) postTo(src, dst int) error {
	p := [2]int{src, dst}
	body := make([]byte, 4+m.t.Rand.Intn(53))
	binary.LittleEndian.PutUint32(body, m.sent[p])
	m.sent[p]++
	m.sum++
	return m.nics[src].Send(regs.PioFields{DstNode: uint8(dst)}, body)
}

// take lets time pass in steps until all has arrived.
func (m *numbered) take() error {
	sys := m.nics[0].Sys
	var stop drivers.Stop
	for idle := 0; m.taken < m.sum; {
		if err := sys.Run(sys.Now()+500, &stop); err != nil {
			return err
		}
		n, err := nictest.TakeAll(m.nics, 1, func(to, from int, k uint32) error {
			p := [2]int{from, to}
			if k != m.got[p] {
				return fmt.Errorf("from node %d to %d: packet %d, expected %d (seed %d)", from, to, k, m.got[p], m.t.Seed)
			}
			m.got[p]++
			return nil
		})
		if err != nil {
			return err
		}
		if idle++; n > 0 {
			idle = 0
		}
		if m.taken += n; idle > 100 {
			return fmt.Errorf("%d of %d packets arrived, none in the last 50,000 cycles (seed %d)", m.taken, m.sum, m.t.Seed)
		}
	}
	return nil
}

// unharmed: what the links went through, the NICs did not see.
func (m *numbered) unharmed() error {
	for _, n := range m.nics {
		if err := errors.Join(n.Expect(regs.RXDropped, 0), n.Expect(regs.RXCRCErrors, 0), n.Expect(regs.RouteErrors, 0)); err != nil {
			return err
		}
	}
	return nil
}

func testCleanLinks(t *regress.T) error {
	m, err := newWired(t, 4)
	if err != nil {
		return err
	}
	if err := errors.Join(m.post(200), m.take(), nictest.Settle(m.nics[0].Sys), m.unharmed()); err != nil {
		return err
	}
	for _, at := range []func(uint8) uint32{regs.LinkCRCErrors, regs.LinkRetransmissions, regs.LinkTimeouts, regs.LinkFailures, regs.WireFaults} {
		n, err := linkCount(m.nics, at)
		if err != nil {
			return err
		}
		if n != 0 {
			return fmt.Errorf("%s counts %d, expected 0 on wires without faults", regs.Describe(at(0)), n)
		}
	}
	return nil
}

// testLongLinks: links find out how long their wires are and wait for that.
func testLongLinks(t *regress.T) error {
	if err := nictest.Reshape(t, "wire_latency=50"); err != nil {
		return err
	}
	return testCleanLinks(t)
}

func wireFaults(errorRate, lossRate float64) func(*regress.T) error {
	return func(t *regress.T) error {
		m, err := newWired(t, 4)
		if err != nil {
			return err
		}
		if err := nictest.SetWireFaults(m.nics, t.Rand.Uint64(), errorRate, lossRate); err != nil {
			return err
		}
		for range 10 {
			if err := errors.Join(m.post(200), m.take()); err != nil {
				return err
			}
		}
		if err := errors.Join(nictest.Settle(m.nics[0].Sys), m.unharmed()); err != nil {
			return err
		}
		if err := m.onlyRepaired(errorRate > 0); err != nil {
			return err
		}
		return m.agreed()
	}
}

// onlyRepaired checks that errors and losses had no effect but retransmissions: no session ended,
// no packet was lost, cut or drained. That no word is sent again after its acknowledgement shows in
// no counter; link_tx asserts it.
func (m *numbered) onlyRepaired(corrupt bool) error {
	for _, at := range []func(uint8) uint32{regs.LinkResets, regs.LinkLost, regs.LinkCut, regs.LinkDrained, regs.LinkFailures} {
		n, err := linkCount(m.nics, at)
		if err != nil {
			return err
		}
		if n != 0 {
			return fmt.Errorf("%s counts %d, expected 0: errors and losses are repaired by retransmission (seed %d)", regs.Describe(at(0)), n, m.t.Seed)
		}
	}
	faults, err := linkCount(m.nics, regs.WireFaults)
	if err != nil {
		return err
	}
	resent, err := linkCount(m.nics, regs.LinkRetransmissions)
	if err != nil {
		return err
	}
	errors, err := linkCount(m.nics, regs.LinkCRCErrors)
	if err != nil {
		return err
	}
	if faults == 0 || resent == 0 || corrupt && errors == 0 {
		return fmt.Errorf("%d faults of wires, %d words retransmitted, %d CRC errors after %d packets: the scenario lost its point (seed %d)", faults, resent, errors, m.sum, m.t.Seed)
	}
	return nil
}

// testLinkDown takes the carrier from the link between nodes 0 and 1 while packets
// are under way. Links that wait for good lose nothing.
func testLinkDown(t *regress.T) error {
	m, err := newWired(t, 2)
	if err != nil {
		return err
	}
	sys, a := m.nics[0].Sys, m.nics[0]
	if err := errors.Join(a.Set(nictest.Write(regs.LinkPatience(0), 0)), m.nics[1].Set(nictest.Write(regs.LinkPatience(1), 0))); err != nil {
		return err
	}
	var stop drivers.Stop
	for round := range 5 {
		if err := m.post(40); err != nil {
			return err
		}
		if err := sys.Run(sys.Now()+drivers.Cycle(20+t.Rand.Intn(60)), &stop); err != nil {
			return err
		}
		if err := a.Set(nictest.Write(regs.WireCtrl(0), regs.WireCtrlDown)); err != nil {
			return err
		}
		if err := errors.Join(a.Expect(regs.LinkStatus(0), regs.LinkStatusConnected|regs.LinkStatusAgreed), a.Expect(regs.LinkFailures(0), uint64(round+1))); err != nil {
			return err
		}
		idle, err := nictest.Quiesce(sys)
		if err != nil {
			return err
		}
		if idle {
			return fmt.Errorf("round %d: the hardware is empty, expected packets to wait for the link", round)
		}
		if err := errors.Join(a.Set(nictest.Write(regs.WireCtrl(0), 0)), m.take(), nictest.Settle(sys)); err != nil {
			return err
		}
	}
	return m.unharmed()
}

// testLinkDead lets the wire from node 0 swallow all words before it was measured; the carrier
// stays.
func testLinkDead(t *regress.T) error {
	m, err := newWired(t, 2)
	if err != nil {
		return err
	}
	sys, a := m.nics[0].Sys, m.nics[0]
	if err := errors.Join(m.post(40), a.Set(nictest.Write(regs.WireLosses(0), 1<<32-1))); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := sys.Run(sys.Now()+5000, &stop); err != nil {
		return err
	}
	if stop.Quiet {
		return errors.New("the model claims to be quiet while a link probes its wire")
	}
	const status = regs.LinkStatusConnected | regs.LinkStatusCarrier | regs.LinkStatusAgreed
	if err := errors.Join(a.Expect(regs.LinkStatus(0), status|regs.LinkStatusDead), a.Expect(regs.LinkFailures(0), 1)); err != nil {
		return err
	}
	if err := errors.Join(a.Set(nictest.Write(regs.WireLosses(0), 0)), m.take(), nictest.Settle(sys), a.Expect(regs.LinkStatus(0), status)); err != nil {
		return err
	}
	return m.unharmed()
}

// testLinkCut lets the wire from node 0 to 1 fail in the middle of packets for node 2, alternately
// without carrier and swallowing all. What node 1 sends to node 2 takes the same outputs and must
// go on. When the wire is back the rest arrives, but for the packets that the link ended.
func testLinkCut(t *regress.T) error {
	m, err := newWired(t, 3)
	if err != nil {
		return err
	}
	a, b, c := m.nics[0], m.nics[1], m.nics[2]
	if err := b.Set(nictest.Write(regs.LinkPatience(1), 300)); err != nil {
		return err
	}
	var stop drivers.Stop
	count := func(cycles drivers.Cycle) error {
		if err := a.Sys.Run(a.Sys.Now()+cycles, &stop); err != nil {
			return err
		}
		n, err := nictest.TakeAll(m.nics, 1, func(to, from int, k uint32) error {
			p := [2]int{from, to}
			if k < m.got[p] || from != 0 && k > m.got[p] {
				return fmt.Errorf("from node %d to %d: packet %d, expected %d (seed %d)", from, to, k, m.got[p], m.t.Seed)
			}
			m.got[p] = k + 1
			return nil
		})
		m.taken += n
		return err
	}
	var cut uint64
	for round := range 8 {
		fail, mend := nictest.Write(regs.WireCtrl(0), regs.WireCtrlDown), nictest.Write(regs.WireCtrl(0), 0)
		if round%2 == 1 {
			fail, mend = nictest.Write(regs.WireLosses(0), 1<<32-1), nictest.Write(regs.WireLosses(0), 0)
		}
		for range 30 {
			if err := m.postTo(0, 2); err != nil {
				return err
			}
		}
		if err := errors.Join(a.Sys.Run(a.Sys.Now()+drivers.Cycle(40+t.Rand.Intn(100)), &stop), a.Set(fail)); err != nil {
			return err
		}
		for range 10 {
			if err := m.postTo(1, 2); err != nil {
				return err
			}
		}
		for range 10 {
			if err := count(500); err != nil {
				return err
			}
		}
		if p := [2]int{1, 2}; m.got[p] != m.sent[p] {
			return fmt.Errorf("round %d: %d of %d packets of node 1 arrived 5,000 cycles after another's wire failed (seed %d)", round, m.got[p], m.sent[p], m.t.Seed)
		}
		if err := a.Set(mend); err != nil {
			return err
		}
		for range 10 {
			if err := count(500); err != nil {
				return err
			}
		}
		if cut, err = b.Dev.ReadReg(regs.LinkCut(1)); err != nil {
			return err
		}
		if lost := m.sum - m.taken; uint64(lost) != cut {
			return fmt.Errorf("round %d: %d packets were lost, the link ended %d (seed %d)", round, lost, cut, m.t.Seed)
		}
	}
	if cut == 0 {
		return fmt.Errorf("no packet was cut in 8 rounds: the scenario lost its point (seed %d)", m.t.Seed)
	}
	return errors.Join(nictest.Settle(a.Sys), c.Expect(regs.RXCRCErrors, cut), c.Expect(regs.RXDropped, 0), a.Expect(regs.LinkCut(0), 0))
}
