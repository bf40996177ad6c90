package bench

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/nicloop/nicloop/host/world/bootstrap"
)

// A Part is the share of one of several programs in a workload: some of its ranks, on a device that
// a broker serves (host/broker). The parts differ only in Ranks and Listens.
type Part struct {
	Config  Config `json:"config"` // Device is shared:PATH
	Ranks   []int  `json:"ranks"`
	Meet    string `json:"meet"`    // address of the bootstrap, see package bootstrap
	Listens bool   `json:"listens"` // exactly one program listens at Meet
	World   string `json:"world"`   // programs with equal names share a protection domain
}

// A PartRow is the result of one program for one message size.
type PartRow struct {
	Bytes      int          `json:"bytes"`
	Iterations int          `json:"iterations"`
	Messages   int          `json:"messages"`   // of all programs, in the timed iterations
	Elapsed    drivers.Time `json:"elapsed_ps"` // real time
}

// A PartResult is the result of one program.
type PartResult struct {
	Rows     []PartRow `json:"rows"`
	Verified uint64    `json:"verified_bytes"`
}

// Parts divides a workload among programs, each with consecutive ranks, and validates it.
func Parts(c Config, programs int) ([]Part, error) {
	wl, err := FindWorkload(c.Workload)
	if err != nil {
		return nil, err
	}
	wl.complete(&c)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := wl.checkAlgorithm(&c); err != nil {
		return nil, err
	}
	if wl.check != nil {
		if err := wl.check(&c); err != nil {
			return nil, err
		}
	}
	n := c.Ranks()
	if programs < 1 || programs > n {
		return nil, fmt.Errorf("%w: %d programs for %d ranks: expected 1 to %d", drivers.ErrConfig, programs, n, n)
	}
	list := make([]Part, programs)
	for i := range list {
		list[i] = Part{Config: c, Listens: i == 0}
		for r := i * n / programs; r < (i+1)*n/programs; r++ {
			list[i].Ranks = append(list[i].Ranks, r)
		}
	}
	return list, nil
}

// world returns the world configuration of the part.
func (p *Part) world() (world.Config, error) {
	c := p.Config
	wl, err := FindWorkload(c.Workload)
	if err != nil {
		return world.Config{}, err
	}
	wl.complete(&c)
	on := c.world()
	on.Mine = p.Ranks
	return on, nil
}

// Bytes returns the DMA memory that the program needs on each node where it has a rank.
func (p *Part) Bytes() (int, error) {
	on, err := p.world()
	if err != nil {
		return 0, err
	}
	return on.LentBytes()
}

// Run runs the part.
func (p *Part) Run(ctx context.Context) (res PartResult, err error) {
	on, err := p.world()
	if err != nil {
		return res, err
	}
	wl, err := FindWorkload(p.Config.Workload)
	if err != nil {
		return res, err
	}
	var tasks []*task
	for _, n := range p.Config.Sizes {
		c, ranks := p.Config.at(wl, n), p.Config.Ranks()
		tasks = append(tasks, newTask(ctx, c, ranks))
	}
	err = world.Join(ctx, world.Joining{Device: p.Config.Device, World: p.World, Config: on, Meet: p.meet}, func(r *host.Rank) error {
		for i, t := range tasks {
			r.FreeAll()
			if err := wl.body(t, r, p.Config.Sizes[i]); err != nil {
				return err
			}
			if err := r.Barrier(); err != nil {
				return err
			}
		}
		return nil
	})
	for i, t := range tasks {
		res.Rows = append(res.Rows, PartRow{Bytes: p.Config.Sizes[i], Iterations: t.c.Iterations, Messages: wl.messages(t.c) * t.c.Iterations, Elapsed: t.elapsed()})
		for _, n := range t.bytes {
			res.Verified += n
		}
	}
	return res, err
}

// meet connects the programs.
func (p *Part) meet(ctx context.Context) (world.Meeting, error) {
	dir := p.Config.world().Directory
	c := bootstrap.Config{Address: p.Meet, Size: len(dir), World: p.World, Mine: map[int]world.Location{}}
	for _, r := range p.Ranks {
		c.Mine[r] = dir[r]
	}
	if !p.Listens {
		s, err := bootstrap.Join(ctx, c)
		if err != nil {
			return nil, err // avoid a non-nil interface with a nil Session
		}
		return s, nil
	}
	l, err := bootstrap.Listen(c)
	if err != nil {
		return nil, err
	}
	s, err := l.Wait(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}
