package velo

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/velo"
)

// FlowControl are the workloads over every flow control.
func FlowControl() (list []regress.Test) {
	for _, flow := range []velo.Flow{velo.None, velo.Static, velo.Dynamic} {
		for _, w := range []struct {
			name         string
			nodes, procs int
			slots        int
			sizes        []int
			tags         []string
		}{
			{"pingpong", 2, 1, 64, []int{0, 1, 40, 41, 96, 2044, 2048}, []string{"smoke"}},
			{"multi-pingpong", 2, 4, 12, []int{2048}, nil},
			{"alltoall", 4, 2, 16, []int{2044, 2048}, nil},
			{"hotspot", 4, 2, 8, []int{512}, nil},
			{"random", 4, 2, 10, []int{2048}, nil},
		} {
			list = append(list, regress.Test{
				Name: fmt.Sprintf("%s/%s", flow, w.name), Tags: append([]string{string(flow), w.name}, w.tags...),
				Doc: fmt.Sprintf("%s, %d nodes x %d processes, every byte verified", w.name, w.nodes, w.procs),
				Run: func(t *regress.T) error {
					c := bench.Default(w.name)
					c.Nodes, c.Procs, c.Sizes = w.nodes, w.procs, w.sizes
					c.Velo.Flow, c.Velo.Slots = flow, w.slots
					if w.name == "pingpong" {
						c.Iterations, c.Warmup = 5, 1
					}
					if flow == velo.None {
						c.Velo.Slots = 512 // large enough never to fill (FC paper, section 5.3)
					}
					res, err := t.Run(c)
					if err != nil {
						return err
					}
					return neverStalled(res)
				},
			})
		}
	}
	return list
}

// neverStalled: with flow control, or mailboxes that cannot fill, no NIC may
// have held the network back.
func neverStalled(res *bench.Result) error {
	for _, n := range res.NICs {
		if n.RxStall != 0 {
			return fmt.Errorf("node %d: the network stalled for %d cycles behind a full mailbox; flow control must avoid that", n.Node, n.RxStall)
		}
	}
	return nil
}

// FlowCorners are the corners: least buffers, and what must go wrong.
func FlowCorners() []regress.Test {
	return []regress.Test{
		{
			Name: "static/least", Tags: []string{"static"},
			Doc: "one credit slot, one data slot per peer (Eq. 2's least)",
			Run: least(velo.Static),
		},
		{
			Name: "dynamic/least", Tags: []string{"dynamic"},
			Doc: "one credit slot, one data slot per peer",
			Run: least(velo.Dynamic),
		},
		{
			Name: "static/no-piggyback", Tags: []string{"static"},
			Doc: "explicit credit packets only",
			Run: plain(velo.Static),
		},
		{
			Name: "dynamic/no-piggyback", Tags: []string{"dynamic"},
			Doc: "explicit credit packets only",
			Run: plain(velo.Dynamic),
		},
		{
			Name: "dynamic/steals", Tags: []string{"dynamic"},
			Doc: "a hotspot makes active senders steal from idle ones",
			Run: testSteals,
		},
		{
			Name: "none/stall", Tags: []string{"none"},
			Doc: "small mailboxes without flow control: the network stalls, nothing is lost",
			Run: testStall,
		},
		{
			Name: "none/hang", Tags: []string{"none"},
			Doc: "mailboxes so small that every core blocks in a store: the verdict names them",
			Run: testHang,
		},
	}
}

func least(flow velo.Flow) func(*regress.T) error {
	return func(t *regress.T) error {
		c := bench.Default("alltoall")
		c.Nodes, c.Procs, c.Sizes = 2, 3, []int{300}
		c.Velo = velo.Config{Flow: flow, Slots: 2, CreditSlots: 1, Piggyback: true}
		res, err := t.Run(c)
		if err != nil {
			return err
		}
		return neverStalled(res)
	}
}

func plain(flow velo.Flow) func(*regress.T) error {
	return func(t *regress.T) error {
		c := bench.Default("random")
		c.Nodes, c.Procs = 4, 2
		c.Velo = velo.Config{Flow: flow, Slots: 9, CreditSlots: 2}
		res, err := t.Run(c)
		if err != nil {
			return err
		}
		if n := res.Rows[0].Flow.PiggybackedCredits; n != 0 {
			return fmt.Errorf("%d credits piggybacked, expected none", n)
		}
		return neverStalled(res)
	}
}

func testSteals(t *regress.T) error {
	c := bench.Default("pingpong")
	c.Nodes, c.Procs, c.Sizes, c.Iterations = 4, 2, []int{2048}, 20
	c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 12, CreditSlots: 2}
	res, err := t.Run(c)
	if err != nil {
		return err
	}
	if res.Rows[0].Flow.Steals == 0 {
		return errors.New("no steals: two active ranks among six idle ones must take over their buffers (FC paper, section 6.4)")
	}
	return neverStalled(res)
}

func testStall(t *regress.T) error {
	c := bench.Default("hotspot")
	c.Nodes, c.Procs, c.Sizes = 4, 2, []int{512}
	c.Velo = velo.Config{Flow: velo.None, Slots: 1}
	res, err := t.Run(c)
	if err != nil {
		return err
	}
	if neverStalled(res) == nil {
		return errors.New("the network never stalled: seven senders into seven slots must fill them (FC paper, section 2)")
	}
	return nil
}

func testHang(t *regress.T) error {
	c := bench.Default("alltoall")
	c.Nodes, c.Procs = 2, 2
	c.Velo = velo.Config{Flow: velo.None, Slots: 1}
	_, err := t.Run(c)
	var v *bench.Verdict
	if !errors.As(err, &v) {
		return fmt.Errorf("got %v, expected a hang verdict", err)
	}
	if v.Class != bench.RTLStall || len(v.Chain) == 0 {
		return fmt.Errorf("verdict %q with a chain of %d links, expected %q with who waits for whom", v.Class, len(v.Chain), bench.RTLStall)
	}
	t.Logf("%v", v)
	return nil
}
