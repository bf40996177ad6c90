package host

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// family makes communicators that share ranks, by a name that all ranks know. A rank has only those
// that it is a member of.
func family(r *Rank) (map[string]*Comm, error) {
	f := map[string]*Comm{"world": &r.Comm}
	var err error
	add := func(name string, c *Comm, e error) {
		if err = errors.Join(err, e); c != nil {
			f[name] = c
		}
	}
	d, e := r.Dup()
	add("dup", d, e)
	s, e := r.Split(r.ID()%2, -r.ID())
	add(fmt.Sprint("half", r.ID()%2), s, e)
	if s != nil {
		d, e := s.Dup()
		add(fmt.Sprint("dup of half", r.ID()%2), d, e)
	}
	color := 0
	if r.ID() == 1 {
		color = Undefined
	}
	s, e = r.Split(color, 0)
	add("but one", s, e)
	return f, err
}

// ranksOf computes the expected members of a communicator of the family, in order.
func ranksOf(name string, size int) (list []int) {
	for i := range size {
		switch {
		case name == "but one" && i == 1:
		case name[len(name)-1] == '0' && i%2 != 0, name[len(name)-1] == '1' && i%2 == 0:
		default:
			list = append(list, i)
		}
	}
	if c := name[len(name)-1]; c == '0' || c == '1' {
		slices.Reverse(list) // keys are descending
	}
	return list
}

var familyNames = []string{"world", "dup", "half0", "half1", "dup of half0", "dup of half1", "but one"}

func TestSplitAndDup(t *testing.T) {
	for _, linear := range []bool{false, true} {
		for nodes := 1; nodes <= 6; nodes++ {
			launch(t, plan{nodes: nodes, procs: 1}, func(r *Rank) error {
				r.SetLinear(linear)
				f, err := family(r)
				if err != nil {
					return err
				}
				for _, name := range familyNames {
					want, c := ranksOf(name, nodes), f[name]
					if at := slices.Index(want, r.ID()); (at < 0) != (c == nil) || c != nil && c.ID() != at {
						return fmt.Errorf("rank %d in %q: %+v, expected position %d", r.ID(), name, c, at)
					}
					for i := range want {
						if c != nil && (c.Size() != len(want) || c.World(i) != want[i]) {
							return fmt.Errorf("%q: rank %d is %d, expected %v", name, i, c.World(i), want)
						}
					}
				}
				return nil
			})
		}
	}
}

// note is a message of TestCommunicatorsKeepApart; all ranks draw the same list.
type note struct {
	comm     string
	from, to int // in the communicator
	tag, n   int
}

func notes(seed int64, size, longest int) (list []note) {
	rnd := rand.New(rand.NewSource(seed))
	for range 150 {
		x := note{comm: familyNames[rnd.Intn(len(familyNames))], tag: rnd.Intn(2), n: rnd.Intn(longest)}
		if k := len(ranksOf(x.comm, size)); k > 0 {
			x.from, x.to = rnd.Intn(k), rnd.Intn(k)
			list = append(list, x)
		}
	}
	return list
}

// Communicators that share ranks exchange messages with the same few tags, received with wildcards
// in random order. Each communicator receives exactly its own messages, in order for each pair of
// ranks.
func TestCommunicatorsKeepApart(t *testing.T) {
	const size = 5
	for seed := range int64(6) {
		for _, p := range []plan{
			{nodes: size, procs: 1, heap: 1 << 20, rma: RMA{Protocol: RGET}},
			{nodes: 1, procs: size, local: true, heap: 1 << 20, rma: RMA{Protocol: RPUT}},
		} {
			launch(t, p, func(r *Rank) error {
				f, err := family(r)
				if err != nil {
					return err
				}
				all := notes(seed, size, 3000)
				var sends []*Request
				for k, x := range all {
					if c := f[x.comm]; c != nil && c.ID() == x.from {
						q, err := c.Isend(x.to, x.tag, letter(x.n, k))
						if err != nil {
							return err
						}
						sends = append(sends, q)
					}
				}
				if err := receiveNotes(r, f, all, rand.New(rand.NewSource(seed*100+int64(r.ID())))); err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
				return errors.Join(r.Waitall(sends), noneLeft(r))
			})
		}
	}
}

func noneLeft(r *Rank) error {
	if left := r.Unmatched(); len(left) > 0 {
		return fmt.Errorf("not received: %+v", left)
	}
	return nil
}

// receiveNotes receives from the communicators in random order, with the kind of receive that the
// list prescribes.
func receiveNotes(r *Rank, f map[string]*Comm, all []note, rnd *rand.Rand) error {
	for _, at := range rnd.Perm(len(familyNames)) {
		name := familyNames[at]
		c := f[name]
		if c == nil {
			continue
		}
		due := map[int][]int{} // by source, the notes in order
		total := 0
		for k, x := range all {
			if x.comm == name && x.to == c.ID() {
				due[x.from] = append(due[x.from], k)
				total++
			}
		}
		how := rnd.Intn(3)
		for range total {
			b := make([]byte, 3000)
			st, err := receiveOne(c, how, b)
			if err != nil {
				return err
			}
			if len(due[st.Source]) == 0 {
				return fmt.Errorf("%q: one from %d too many", name, st.Source)
			}
			k := due[st.Source][0]
			due[st.Source] = due[st.Source][1:]
			if st != (Status{all[k].from, all[k].tag, all[k].n}) {
				return fmt.Errorf("%q: %+v, expected %+v", name, st, all[k])
			}
			if err := expect(b[:st.Bytes], k); err != nil {
				return err
			}
		}
		if _, ok, err := c.Iprobe(AnySource, AnyTag); ok || err != nil {
			return fmt.Errorf("%q has more messages than were sent in it (%v)", name, err)
		}
	}
	return nil
}

func receiveOne(c *Comm, how int, b []byte) (Status, error) {
	switch how {
	case 0:
		return c.Recv(AnySource, AnyTag, b)
	case 1:
		st, err := c.Probe(AnySource, AnyTag)
		if err != nil {
			return st, err
		}
		return c.Recv(st.Source, st.Tag, b[:st.Bytes])
	}
	m, err := c.Mprobe(AnySource, AnyTag)
	if err != nil {
		return Status{}, err
	}
	return m.Recv(b)
}

// Collectives of communicators with the same ranks overlap: ranks may call them in different
// orders.
func TestCollectivesOverlap(t *testing.T) {
	launch(t, plan{nodes: 3, procs: 1}, func(r *Rank) error {
		a, err := r.Dup()
		if err != nil {
			return err
		}
		b, err := r.Dup()
		if err != nil {
			return err
		}
		list := []*Comm{&r.Comm, a, b}
		if r.ID() == 2 {
			slices.Reverse(list)
		}
		for _, c := range list {
			k := int(c.inner)
			data := make([]byte, 100)
			if c.ID() == 0 {
				data = letter(100, k)
			}
			if err := errors.Join(c.Bcast(0, data), expect(data, k)); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestWrongCommunicators(t *testing.T) {
	launch(t, plan{nodes: 3, procs: 1}, func(r *Rank) error {
		g, err := r.Group([]int{2, 0, 1})
		if err != nil {
			return err
		}
		d, err := g.Dup()
		if err != nil {
			return err
		}
		half, err := d.Split(0, 0)
		if err != nil || half.World(0) != 2 {
			return fmt.Errorf("%+v, %v", half, err)
		}
		_, recv := g.Recv(AnySource, 0, nil)
		_, _, probe := g.Iprobe(0, 0)
		for i, err := range []error{g.Send(0, 0, nil), recv, probe, d.Send(3, 0, nil)} {
			if !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("call %d: %v", i, err)
			}
		}
		if err := d.Send((d.ID()+1)%3, 4, make([]byte, 9)); err != nil {
			return err
		}
		if _, err := d.Recv(AnySource, 4, make([]byte, 8)); !errors.Is(err, ErrTruncated) {
			return fmt.Errorf("%v, expected that the buffer is too short", err)
		}
		if r.ID() == 1 { // the rank with the most contexts determines the next one
			r.contexts = contextNone - 1
		}
		_, dup := r.Dup()
		_, split := r.Split(0, 0)
		for _, err := range []error{dup, split} {
			if !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%v, expected that there are too many", err)
			}
		}
		return nil
	})
}

// Messages in a communicator take as long as those in the world.
func TestCommunicatorsTakeNoTime(t *testing.T) {
	var took [2]drivers.Time
	for i := range took {
		launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
			c, err := r.Dup()
			if i == 0 {
				c = &r.Comm
			}
			if err != nil {
				return err
			}
			for k := range 20 {
				if c.ID() == 0 {
					err = c.Send(1, k, make([]byte, 500))
				} else {
					_, err = c.Recv(0, k, make([]byte, 500))
				}
				if err != nil {
					return err
				}
			}
			took[i] = r.Now()
			return nil
		})
	}
	require.Equal(t, took[0], took[1])
}
