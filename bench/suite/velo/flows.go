package regress

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/velo"
)

// List is the regression list.
func List() []Test {
	list := append(append([]Test{}, directed...), links...)
	list = append(list, networkTests()...)
	list = append(list, rmaTests()...)
	list = append(list, throughput()...)
	list = append(append(list, heldTests...), pathTests...)
	list = append(list, isolation...)
	list = append(list, sendWindows...)
	list = append(list, domainTests...)
	list = append(list, lifeTests...)
	list = append(list, holdTests()...)
	list = append(list, flowTests()...)
	list = append(list, matchingTests()...)
	list = append(list, collectiveTests()...)
	list = append(list, faultTests()...)
	list = append(list, pcieTests...)
	list = append(list, axiTests...)
	list = append(list, boardTests...)
	list = append(list, special...)
	for i := range list {
		if area, _, _ := strings.Cut(list[i].Name, "/"); slices.Contains(conformAreas, area) {
			list[i].Tags = append(slices.Clip(list[i].Tags), Conform)
		}
	}
	return list
}

// Tags with a meaning of their own.
const (
	// Conform marks what every body of the NIC must do alike.
	Conform = "conform"
	// Line marks what needs registers, send windows and mailboxes alone, at no cycle in particular: it
	// runs over a serial line too.
	Line = "line"
	// Deep marks what takes too long for everyday: it runs when it is named.
	Deep = "deep"
)

var conformAreas = []string{"velo", "rma", "matching", "collectives"}

// Conformance is the part of the list that every backend must pass.
func Conformance() []Test {
	return slices.DeleteFunc(List(), func(t Test) bool { return !slices.Contains(t.Tags, Conform) })
}

// Everyday leaves out what is marked deep.
func Everyday(list []Test) []Test {
	return slices.DeleteFunc(slices.Clone(list), func(t Test) bool { return slices.Contains(t.Tags, Deep) })
}

// flowTests are the workloads over every flow control.
func flowTests() (list []Test) {
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
			list = append(list, Test{
				Name: fmt.Sprintf("%s/%s", flow, w.name), Tags: append([]string{string(flow), w.name}, w.tags...),
				Doc: fmt.Sprintf("%s, %d nodes x %d processes, every byte verified", w.name, w.nodes, w.procs),
				Run: func(t *T) error {
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

// special are the corners: least buffers, and what must go wrong.
var special = []Test{
	{"static/least", []string{"static"}, "one credit slot, one data slot per peer (Eq. 2's least)", least(velo.Static)},
	{"dynamic/least", []string{"dynamic"}, "one credit slot, one data slot per peer", least(velo.Dynamic)},
	{"static/no-piggyback", []string{"static"}, "explicit credit packets only", plain(velo.Static)},
	{"dynamic/no-piggyback", []string{"dynamic"}, "explicit credit packets only", plain(velo.Dynamic)},
	{"dynamic/steals", []string{"dynamic"}, "a hotspot makes active senders steal from idle ones", testSteals},
	{"none/stall", []string{"none"}, "small mailboxes without flow control: the network stalls, nothing is lost", testStall},
	{"none/hang", []string{"none"}, "mailboxes so small that every core blocks in a store: the verdict says so", testHang},
}

func least(flow velo.Flow) func(*T) error {
	return func(t *T) error {
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

func plain(flow velo.Flow) func(*T) error {
	return func(t *T) error {
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

func testSteals(t *T) error {
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

func testStall(t *T) error {
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

func testHang(t *T) error {
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
