package messages

import (
	"fmt"
	"math/rand"

	"github.com/nicloop/nicloop/host"
)

// A beginner begins the collective of the same name and gives what it writes.
type beginner struct {
	name  string
	begin func(c *host.Comm, d *Draw) ([]byte, *host.Request, error)
}

var beginners = []beginner{
	{"bcast", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		b := d.input(c.ID(), d.n)
		q, err := c.Ibcast(d.root, b)
		return b, q, err
	}},
	{"gather", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		all := make([]byte, d.even().Bytes())
		q, err := c.Igather(d.root, d.input(c.ID(), d.n), all)
		return all, q, err
	}},
	{"gatherv", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		all := make([]byte, d.uneven().Bytes())
		q, err := c.Igatherv(d.root, d.input(c.ID(), d.counts[c.ID()]), all, d.uneven())
		return all, q, err
	}},
	{"scatter", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		mine := make([]byte, d.n)
		q, err := c.Iscatter(d.root, d.atRoot(c.ID(), d.input(d.root, d.even().Bytes())), mine)
		return mine, q, err
	}},
	{"scatterv", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		mine := make([]byte, d.counts[c.ID()])
		q, err := c.Iscatterv(d.root, d.atRoot(c.ID(), d.input(d.root, d.uneven().Bytes())), mine, d.uneven())
		return mine, q, err
	}},
	{"allgather", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		all := make([]byte, d.even().Bytes())
		q, err := c.Iallgather(d.input(c.ID(), d.n), all)
		return all, q, err
	}},
	{"allgatherv", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		all := make([]byte, d.uneven().Bytes())
		q, err := c.Iallgatherv(d.input(c.ID(), d.counts[c.ID()]), all, d.uneven())
		return all, q, err
	}},
	{"alltoall", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		in := make([]byte, d.even().Bytes())
		q, err := c.Ialltoall(d.input(c.ID(), len(in)), in, d.n)
		return in, q, err
	}},
	{"alltoallv", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		lo, li := d.row(c.ID()), d.into(c.ID())
		in := make([]byte, li.Bytes())
		q, err := c.Ialltoallv(d.input(c.ID(), lo.Bytes()), lo, in, li)
		return in, q, err
	}},
	{"reduce", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		b := d.numbers(c.ID(), d.words(d.n))
		q, err := c.Ireduce(d.root, b, d.op.op)
		return b, q, err
	}},
	{"allreduce", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		b := d.numbers(c.ID(), d.words(d.n))
		q, err := c.Iallreduce(b, d.op.op)
		return b, q, err
	}},
	{"reduce_scatter", func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
		l := d.wordLayout()
		mine := make([]byte, len(l.Of(make([]byte, l.Bytes()), c.ID())))
		q, err := c.IreduceScatter(d.numbers(c.ID(), l.Bytes()/8), mine, l, d.op.op)
		return mine, q, err
	}},
}

// atOnce begins them all, with a barrier that waits among them, and waits in an order of the rank's
// own.
func atOnce(r *host.Rank, c *host.Comm, d *Draw) error {
	var checks []collective
	var list []*host.Request
	order := rand.New(rand.NewSource(d.seed)).Perm(len(beginners))
	for i, k := range order {
		x := beginners[k]
		got, q, err := x.begin(c, d)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		for _, y := range collectives {
			if y.name == x.name {
				y.call = func(*host.Comm, *Draw) ([]byte, error) { return got, nil }
				checks = append(checks, y)
			}
		}
		list = append(list, q)
		if i == len(order)/2 {
			if err := c.Barrier(); err != nil {
				return err
			}
		}
	}
	own := rand.New(rand.NewSource(d.seed + int64(r.ID())))
	for _, i := range own.Perm(len(list)) {
		if _, err := r.Wait(list[i]); err != nil {
			return fmt.Errorf("%s: %w", checks[i].name, err)
		}
		if err := checks[i].check(c, d); err != nil {
			return err
		}
	}
	return nil
}
