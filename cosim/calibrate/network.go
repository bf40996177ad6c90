package calibrate

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	longest = regs.VELOPayload // bytes of the longest packet
	flits   = 9                // of it
)

// crossing times one packet, at its own node and over a hop. Where it comes off the link it has
// only the router before it.
func crossing(ctx context.Context, c *Config, p *nic.Params) error {
	var times [2]drivers.Cycle
	var router drivers.Cycle
	for dst := range times {
		err := onProbe(ctx, c, "", func(b *probe) (err error) {
			if err = b.send(dst, 1, longest, boxSlots); err != nil {
				return err
			}
			if times[dst], err = b.between(tracePoint{0, drivers.PointInject}, 0, tracePoint{dst, drivers.PointEject}, 0); err != nil {
				return err
			}
			if dst == 1 {
				if router, err = b.between(tracePoint{dst, drivers.PointArrive1 + 1}, 0, tracePoint{dst, drivers.PointEject}, 0); err != nil {
					return err
				}
			}
			written, err := b.between(tracePoint{dst, drivers.PointEject}, flits-1, tracePoint{dst, drivers.PointSlot}, 0)
			const check, channel, beats, counted = 2, 1, regs.SlotBytes / regs.FlitBytes, 1
			p.NIC.HostWrite = written - check - channel - beats - counted
			return err
		})
		if err != nil {
			return err
		}
	}
	p.Network.Router = int(router)
	p.Network.Inject = int(times[0]) - p.Network.Router
	p.Network.Link = int(times[1]) - p.Network.Inject - 2*p.Network.Router
	return nil
}

// roundTrip gives channels two entries. Then two flits leave per round trip of a credit: forward
// from queue to queue, and back. A flit leaves the local input's queue a cycle before
// it leaves the router; behind a hop, when it does so.
func roundTrip(ctx context.Context, c *Config, p *nic.Params) error {
	n := &p.Network
	measure := func(at tracePoint, dst, i int) (took int, err error) {
		err = onProbe(ctx, c, "vc_depth=2", func(b *probe) error {
			if err := b.send(dst, 1, longest, boxSlots); err != nil {
				return err
			}
			cycles, err := b.between(at, i, at, i+2)
			took = int(cycles)
			return err
		})
		return took, err
	}
	local, err := measure(tracePoint{0, drivers.PointInject}, 0, 0) // before what is ahead is full too
	if err != nil {
		return err
	}
	hop, err := measure(tracePoint{1, drivers.PointEject}, 1, 4)
	n.LocalCredit = local - n.Inject - (n.Router - 1)
	n.Credit = hop - n.Link - n.Router
	return err
}

// blockade fills a mailbox of one slot until nothing moves any more.
func blockade(ctx context.Context, c *Config, p *nic.Params) error {
	return onProbe(ctx, c, "", func(b *probe) error {
		const enough = 40
		if err := b.send(0, enough, longest, 1); err != nil {
			return err
		}
		taken, in, out := len(b.at(tracePoint{0, drivers.PointPIO})), len(b.at(tracePoint{0, drivers.PointInject})), len(b.at(tracePoint{0, drivers.PointEject}))
		if taken == enough || in <= out {
			return fmt.Errorf("%w: expected a full mailbox to stop the sender, found %d of %d lines taken, %d flits in, %d out",
				ErrTrace, taken, enough, in, out)
		}
		p.NIC.Lines = taken - in/flits
		p.Network.VCDepth = in - out
		return nil
	})
}

// start reads a register whose table is being cleared, also in the cycles in which the read is
// decoded.
func start(ctx context.Context, c *Config, p *nic.Params) error {
	return onProbe(ctx, c, "", func(b *probe) error {
		for i := range 2 {
			before := b.m.Now()
			if _, err := b.m.Device(0).ReadReg(regs.MboxWP(0)); err != nil {
				return err
			}
			took := b.m.Now() - before
			if i == 0 {
				p.NIC.Clear = took + 1 + nic.RegDecode
			} else {
				p.NIC.Clear -= took
			}
		}
		return nil
	})
}
