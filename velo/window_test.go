package velo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// careless is a NIC into whose window of process 0 somebody now and then writes a part of a line.
type careless struct {
	drivers.Device
	r     *rand.Rand
	parts int
}

func (c *careless) WritePIO(off uint32, line []byte) error {
	if c.r.IntN(20) == 0 {
		c.parts++
		if err := c.Device.WritePIO(uint32(regs.PioFields{Length: 56, DstNode: 1, Kind: regs.KindCreditRequest}.Pack()), make([]byte, 8)); err != nil {
			return err
		}
	}
	return c.Device.WritePIO(off, line)
}

// pair opens process 0 of two nodes.
func pair(t *testing.T, slots int, wrap func(drivers.Device) drivers.Device) (drivers.System, [2]*velo.Endpoint) {
	sys, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: 2, MemoryBytes: 1 << 16})
	require.NoError(t, err)
	dir := velo.NewDirectory([]velo.Addr{{Node: 0}, {Node: 1}})
	var ends [2]*velo.Endpoint
	for i := range ends {
		ends[i], err = velo.Open(wrap(sys.Device(i)), 0, i, dir, velo.Config{Flow: velo.None, Slots: slots})
		require.NoError(t, err)
	}
	return sys, ends
}

// exchange has both send to each other as fast as they may, and poll when they may not.
func exchange(t *testing.T, sys drivers.System, ends [2]*velo.Endpoint, all uint64) (again int) {
	var sent, got [2]uint64
	var stop drivers.Stop
	for round := 0; got[0]+got[1] < 2*all; round++ {
		require.Less(t, round, 100_000, "%v sent, %v arrived: the nodes stop each other", sent, got)
		for i, e := range ends {
			for sent[i] < all {
				err := e.Send(1-i, binary.LittleEndian.AppendUint64(nil, sent[i]))
				if errors.Is(err, velo.ErrTryAgain) {
					again++
					break
				}
				require.NoError(t, err)
				sent[i]++
			}
			var p velo.Packet
			for ok, err := e.Poll(&p); ok; ok, err = e.Poll(&p) {
				require.NoError(t, err)
				require.Equal(t, got[i], binary.LittleEndian.Uint64(p.Payload), "lost, doubled or out of order")
				got[i]++
			}
		}
		require.NoError(t, sys.(drivers.Timed).Run(sys.(drivers.Timed).Now()+20, &stop))
	}
	return again
}

// Mailboxes of two slots and no flow control: Send gives up when the window is full, and nobody
// stops.
func TestFullWindows(t *testing.T) {
	sys, ends := pair(t, 2, func(d drivers.Device) drivers.Device { return d })
	require.NotZero(t, exchange(t, sys, ends, 500), "the window was never full")
	require.NoError(t, sys.Close())
}

// Lines that the NIC refuses are sent again, in order, and nobody sees it.
func TestRefusedLinesAreSentAgain(t *testing.T) {
	for seed := range uint64(10) {
		var nics []*careless
		sys, ends := pair(t, 8, func(d drivers.Device) drivers.Device {
			c := &careless{Device: d, r: rand.New(rand.NewPCG(seed, 1))}
			if len(nics) > 0 {
				c.r = rand.New(rand.NewPCG(seed, 2))
			}
			nics = append(nics, c)
			return c
		})
		exchange(t, sys, ends, 300)
		require.NotZero(t, nics[0].parts)
		require.NoError(t, sys.Close())
	}
}
