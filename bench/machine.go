package bench

import (
	"context"
	"errors"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/world"
)

// simulated is a world.Machine on simulated time.
type simulated struct {
	*vtime.Kernel
	sys   drivers.Timed
	procs []*vtime.Proc // by rank
	stop  drivers.Stop
}

func simulate(sys drivers.Timed, c *Config) *simulated {
	return &simulated{sys: sys, Kernel: vtime.New(sys, vtime.Config{
		PIOWrite: c.Cost.PIOWrite, RegWrite: c.Cost.RegWrite, Wake: c.Cost.Wake,
		PIODepth: c.Cost.PIODepth, Limit: c.Limit,
	})}
}

// Add implements world.Machine. Ranks are added in order, all in one program.
func (s *simulated) Add(_ int, at world.Location) (world.Process, error) {
	p := s.Kernel.Add(at.Node, at.VPID)
	s.procs = append(s.procs, p)
	return p, nil
}

// Run implements world.Machine. The end of ctx closes the system and so ends the run.
func (s *simulated) Run(_ context.Context, body func(rank int) error) error {
	return s.Kernel.Run(body)
}

// Parallel implements world.Machine.
func (s *simulated) Parallel() bool { return false }

// Stuck implements world.Machine.
func (s *simulated) Stuck(err error) bool {
	var hang *vtime.HangError
	return errors.As(err, &hang)
}

// Rest implements world.Machine.
func (s *simulated) Rest() (bool, error) {
	for {
		if err := s.sys.Run(drivers.Forever, &s.stop); err != nil || len(s.stop.Fired) == 0 {
			return true, err
		}
	}
}
