package links

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/velo"
)

// Network are of routes through the network: rings that must not lock up, and
// routes that software writes. Channels of two entries hold less than a quarter of a packet,
// so that packets lie across several routers.
func Network() []regress.Test {
	test := func(name, doc string, run func(*regress.T) error, tags ...string) regress.Test {
		return regress.Test{Name: "network/" + name, Tags: append([]string{"network"}, tags...), Doc: doc, Run: run}
	}
	const ring, torus = "dims=4x1x1&torus=1&vc_depth=2", "dims=3x3x1&torus=1&vc_depth=2"
	return []regress.Test{
		test("ring", "a ring of 4 nodes full of packets: no deadlock, in order per pair", saturated(ring, 4)),
		test("ring-alltoall", "alltoall of VELO and RMA messages over a ring of 4 nodes", over(ring, 4, "alltoall")),
		test("ring-random", "random messages over a ring of 4 nodes", over(ring, 4, "random")),
		test("torus", "a 3 x 3 torus full of packets: no deadlock, in order per pair", saturated(torus, 9), regress.Deep),
		test("torus-alltoall", "alltoall of VELO and RMA messages over a 3 x 3 torus", over(torus, 9, "alltoall"), regress.Deep),
		test("torus-random", "random messages over a 3 x 3 torus", over(torus, 9, "random"), regress.Deep),
		test("table-detour", "entries of the route table lead around a failed link", testDetour),
		test("route-loop", "packets in a routing loop are discarded and counted, and block no other traffic", testRouteLoop),
		test("table-nowhere", "route entries without a target discard their packets and block no other traffic", testNowhere),
	}
}

func saturated(keys string, nodes int) func(*regress.T) error {
	return func(t *regress.T) error {
		if err := nictest.Reshape(t, keys); err != nil {
			return err
		}
		m, err := newNumbered(t, nodes)
		if err != nil {
			return err
		}
		params, err := m.nics[0].Dev.ReadReg(regs.Params)
		if err != nil {
			return err
		}
		if params&regs.ParamsTorus == 0 {
			return fmt.Errorf("PARAMS is 0x%x, expected the bit of a torus", params)
		}
		for range 5 {
			if err := errors.Join(m.post(100*nodes), m.take()); err != nil {
				return err
			}
		}
		return errors.Join(nictest.Settle(m.nics[0].Sys), m.unharmed())
	}
}

func over(keys string, nodes int, workload string) func(*regress.T) error {
	return func(t *regress.T) error {
		if err := nictest.Reshape(t, keys); err != nil {
			return err
		}
		c := bench.Default(workload)
		c.Nodes, c.Procs, c.Sizes = nodes, 1, []int{500, 6000}
		c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 64, CreditSlots: 2, Piggyback: true}
		_, err := t.Run(c)
		return err
	}
}

// testDetour: on a 2 x 2 mesh the link between nodes 0 and 1 is dead, and what would use it
// goes by nodes 2 and 3. No packet turns on at node 0 or 1, so no ring closes.
func testDetour(t *regress.T) error {
	m, err := newWired(t, 4)
	if err != nil {
		return err
	}
	a := m.nics[0]
	const up = 3 // port +Y
	for _, way := range [][2]int{{0, 1}, {0, 3}, {1, 0}, {1, 2}} {
		node, w := nictest.RouteEntry(way[0], way[1], up)
		if err := errors.Join(m.nics[node].Set(w), m.nics[node].Expect(w.Reg, w.Value)); err != nil {
			return err
		}
	}
	if err := errors.Join(a.Set(nictest.Write(regs.WireCtrl(0), regs.WireCtrlDown)), a.Expect(regs.LinkStatus(0), regs.LinkStatusConnected|regs.LinkStatusAgreed)); err != nil {
		return err
	}
	if err := errors.Join(m.post(400), m.take(), nictest.Settle(a.Sys), m.unharmed()); err != nil {
		return err
	}
	// Without its entry a packet waits for the link.
	if err := a.Set(nictest.Write(regs.Route(1), 0)); err != nil {
		return err
	}
	if err := m.postTo(0, 1); err != nil {
		return err
	}
	if idle, err := nictest.Quiesce(a.Sys); err != nil || idle {
		return errors.Join(err, errors.New("a packet was not held by the dead link: expected it to wait without its entry"))
	}
	return errors.Join(a.Set(nictest.Write(regs.WireCtrl(0), 0)), m.take(), nictest.Settle(a.Sys), m.unharmed())
}

// testNowhere gives one destination routes that no packet can take: no port, an
// unconnected one, and back where it came from.
func testNowhere(t *regress.T) error {
	m, err := newRouted(t, 4)
	if err != nil {
		return err
	}
	const dst = 3
	// From node 0 by +X to 1, from 1 by -X to 0: each sends back what the other sent.
	lost := [...]int{1, 0, 2} // by source, the node that discards
	for _, e := range [][3]int{{0, dst, 1}, {1, dst, 2}, {2, dst, 7}} {
		node, w := nictest.RouteEntry(e[0], e[1], e[2])
		if err := m.nics[node].Set(w); err != nil {
			return err
		}
	}
	want := map[int]uint64{}
	for round := range 4 {
		if round == 2 { // no wire behind this port
			_, w := nictest.RouteEntry(2, dst, 2)
			if err := m.nics[2].Set(w); err != nil {
				return err
			}
		}
		if err := m.post(200); err != nil {
			return err
		}
		for src, discards := range lost {
			p := [2]int{src, dst}
			n := m.sent[p] - m.got[p]
			m.got[p] += n // they never come
			m.sum -= int(n)
			want[discards] += uint64(n)
		}
		if err := errors.Join(m.take(), nictest.Settle(m.nics[0].Sys)); err != nil {
			return err
		}
	}
	for _, n := range m.nics {
		if err := n.Expect(regs.RouteErrors, want[n.Node]); err != nil {
			return err
		}
	}
	for node := range lost {
		if err := m.nics[node].Set(nictest.Write(regs.Route(dst), 0)); err != nil {
			return err
		}
	}
	t.Notef("%d, %d and %d packets discarded by nodes 0, 1 and 2", want[0], want[1], want[2])
	return errors.Join(m.post(200), m.take(), nictest.Settle(m.nics[0].Sys))
}

// testRouteLoop: on a 2 x 2 mesh the entries for node 3 lead round all four nodes. A packet comes
// to each router 16 times and ends where it began. All others go on, also past the loop.
func testRouteLoop(t *regress.T) error {
	m, err := newRouted(t, 4)
	if err != nil {
		return err
	}
	const dst = 3
	for _, e := range [][3]int{{0, dst, 1}, {1, dst, 3}, {3, dst, 2}, {2, dst, 4}} { // +X, +Y, -X, -Y
		node, w := nictest.RouteEntry(e[0], e[1], e[2])
		if err := m.nics[node].Set(w); err != nil {
			return err
		}
	}
	var want [4]uint64
	for round := range 6 {
		for src := range 1 + t.Rand.Intn(3) {
			if err := m.postTo((round+src)%4, dst); err != nil {
				return err
			}
			want[(round+src)%4]++
		}
		for range 60 {
			if err := m.postTo(t.Rand.Intn(4), t.Rand.Intn(3)); err != nil {
				return err
			}
		}
		if err := m.run(6000); err != nil {
			return err
		}
		for p, sent := range m.sent {
			if p[1] != dst && m.got[p] != sent {
				return fmt.Errorf("round %d: %d of %d packets from node %d arrived at node %d past a loop (seed %d)", round, m.got[p], sent, p[0], p[1], t.Seed)
			}
		}
		for _, n := range m.nics {
			if err := n.Expect(regs.RouteErrors, want[n.Node]); err != nil {
				return fmt.Errorf("round %d: %w (seed %d)", round, err, t.Seed)
			}
		}
	}
	for node := range 4 {
		if err := m.nics[node].Set(nictest.Write(regs.Route(dst), 0)); err != nil {
			return err
		}
	}
	for src := range 4 { // those that ended in the loop never come
		p := [2]int{src, dst}
		m.sum -= int(m.sent[p] - m.got[p])
		m.got[p] = m.sent[p]
	}
	return errors.Join(nictest.Settle(m.nics[0].Sys), m.post(200), m.take(), nictest.Settle(m.nics[0].Sys))
}
