package nic

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// drivers.Timed: Arm makes the next DMA write that touches the range stop Run, once.
func TestWatches(t *testing.T) {
	const slot = mailboxes + 5*mailboxStride
	for _, tc := range []struct {
		name   string
		off, n uint64
		fires  bool
	}{
		{"the slot", slot, regs.SlotBytes, true},
		{"its first byte", slot, 1, true},
		{"its last byte", slot + regs.SlotBytes - 1, 100, true},
		{"the byte before it", slot - 8, 8, false},
		{"the byte behind it", slot + regs.SlotBytes, 8, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPair(t)
			id, err := r.Watch(1, tc.off, tc.n)
			require.NoError(t, err)
			r.Arm(id)
			r.Arm(id) // it is
			r.send(0, 3, 1, 5, nil)
			r.run(drivers.Forever)
			if !tc.fires {
				require.Empty(t, r.stop.Fired)
				return
			}
			require.Equal(t, []drivers.Fired{{Kind: drivers.FiredWatch, Node: 1, Watch: id}}, r.stop.Fired)
			r.set(1, regs.MboxCtrl(5), 0) // the next slot is the same
			r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable)
			r.send(0, 3, 1, 5, nil)
			r.run(drivers.Forever)
			require.Empty(t, r.stop.Fired, "once")
		})
	}
}

func TestWatchRefusals(t *testing.T) {
	r := newRig(t, 2)
	for _, tc := range []struct {
		node   int
		off, n uint64
		text   string
	}{
		{-1, 0, 8, "expected 0..1"}, {2, 0, 8, "expected 0..1"},
		{0, 0, 0, "0 bytes"}, {0, rigMemory, 1, "inside"}, {0, 8, ^uint64(0), "inside"},
	} {
		_, err := r.Watch(tc.node, tc.off, tc.n)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, tc.text)
	}
}

// drivers.Timed: the reasons of one cycle come together, in a fixed order.
func TestReasonsOfOneCycleAreOrdered(t *testing.T) {
	r := newPair(t)
	var ids []drivers.WatchID
	for range 3 {
		id, err := r.Watch(1, mailboxes+5*mailboxStride, regs.SlotBytes)
		require.NoError(t, err)
		ids = append(ids, id)
	}
	for _, id := range []int{2, 0, 1} {
		r.Arm(ids[id])
	}
	r.ArmPIO(1, 5, 0)
	r.ArmPIO(0, 3, 0)
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{
		{Kind: drivers.FiredPIO, Node: 0, VPID: 3},
		{Kind: drivers.FiredPIO, Node: 1, VPID: 5},
	}, r.stop.Fired)
	r.send(0, 3, 1, 5, nil)
	r.run(drivers.Forever)
	var fired []drivers.WatchID
	for _, f := range r.stop.Fired {
		fired = append(fired, f.Watch)
	}
	require.Equal(t, ids, fired)
}

func TestArmPIO(t *testing.T) {
	r := newPair(t)
	r.ArmPIO(0, 3, 2)
	r.send(0, 3, 1, 5, nil)
	r.settle()
	require.Empty(t, r.stop.Fired)
	r.send(0, 3, 1, 5, nil)
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredPIO, VPID: 3}}, r.stop.Fired)
}

// The interrupt line follows IRQ_STATUS and IRQ_MASK, whichever changes last.
func TestArmIRQFollowsTheMask(t *testing.T) {
	r := newRig(t, 1)
	r.PostReg(0, r.Now(), regs.MboxRP(0), 77)
	r.settle()
	r.ArmIRQ(0)
	r.settle()
	require.Empty(t, r.stop.Fired)
	r.PostReg(0, r.Now(), regs.IRQMask, regs.IRQMaskError)
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ}}, r.stop.Fired)
	r.ArmIRQ(0) // it is up
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ}}, r.stop.Fired)
}

// drivers.TraceSink takes events in order of time.
func TestTraceIsInOrder(t *testing.T) {
	log := &traceLog{}
	r := newPair(t, func(c *Config) { c.Trace = log })
	for range 5 {
		r.send(0, 3, 1, 5, []byte("x"))
		r.send(1, 5, 0, 3, []byte("y"))
	}
	off := regs.PioFields{Length: 8, DstNode: 9, SrcVPID: 3}.Pack()
	r.PostPIO(0, r.Now(), uint32(off), make([]byte, 8))
	require.Error(t, r.lost())
	byCycle := func(a, b drivers.TraceEvent) int { return int(a.Cycle) - int(b.Cycle) }
	require.True(t, slices.IsSortedFunc(log.events, byCycle))
	points := map[uint8]int{}
	for _, e := range log.events {
		points[e.Point]++
		if e.Point == drivers.PointDropped {
			require.EqualValues(t, regs.DropReasonNoSuchNode, e.Data>>32&0xff)
		}
	}
	require.Equal(t, 10, points[drivers.PointPIO])
	require.Equal(t, 10, points[drivers.PointSlot])
	require.Equal(t, 1, points[drivers.PointDropped])
}

// Flits that a network traces ahead of time can be withdrawn.
func TestWithdraw(t *testing.T) {
	log := &traceLog{}
	r := newRig(t, 2, func(c *Config) { c.Trace = log })
	p := r.Part(0)
	require.True(t, p.Tracing())
	h, err := p.Receive(regs.HeaderFields{Type: regs.PacketTypeVELO, Length: 8}.Pack())
	require.NoError(t, err)
	p.Packet(h).SetWord(0, 42)
	now := r.Now()
	for i := range 3 {
		p.TraceFlit(now+drivers.Cycle(i), 1, drivers.PointLink1, 0, h, i)
	}
	p.Withdraw(now+1, 1, drivers.PointLink1)
	p.Withdraw(now, 0, drivers.PointLink1) // another node
	require.NoError(t, r.FlushTrace(drivers.Forever))
	require.Len(t, log.events, 2)
	require.EqualValues(t, drivers.TraceHead, log.events[0].Flags)
	require.EqualValues(t, 42, log.events[1].Data)
	p.Discarded(h)
	require.False(t, newRig(t, 1).Part(0).Tracing())
}

type brokenSink struct{ err error }

func (s brokenSink) Trace([]drivers.TraceEvent) error { return s.err }

func TestTraceErrorsEndTheRun(t *testing.T) {
	broken := errors.New("disk full")
	r := newPair(t, func(c *Config) { c.Trace = brokenSink{broken} })
	r.send(0, 3, 1, 5, nil)
	require.ErrorIs(t, r.Run(drivers.Forever, &r.stop), broken)
}
