package links

import (
	"context"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// options runs tests on the functional NIC.
func options(t *testing.T) regress.Options {
	return regress.Options{Device: "ideal:", Seed: 1, Seeds: 1, Jobs: 2, Timeout: time.Minute, Dir: t.TempDir()}
}

// runOnModel runs the body of one test on the model and returns its error.
func runOnModel(t *testing.T, body func(*regress.T) error) error {
	o := options(t)
	o.Device, o.NoWaves = "model:", true
	out, err := regress.Run(context.Background(), []regress.Test{{Name: "x/body", Run: body}}, o)
	require.NoError(t, err)
	return out[0].Err
}

// TestReceiveAll: the end of a soak test must not depend on how much traffic is still queued.
// links/soak-long-50 once read the mailboxes for 30,000 more cycles and then only waited. With
// seeds 12308 and 20001 more packets were left than arrive in that time over wires of 50 cycles;
// the full mailboxes held back the rest, which looked like a deadlock in which packets were lost.
func TestReceiveAll(t *testing.T) {
	const packets = 4 * nictest.SlotsPerBox
	require.NoError(t, runOnModel(t, func(t *regress.T) error {
		m, err := newWired(t, 2)
		if err != nil {
			return err
		}
		for range packets {
			if err := m.postTo(0, 1); err != nil {
				return err
			}
		}
		if err := m.receiveAll(); err != nil {
			return err
		}
		return m.accounted()
	}))
}

// TestReceiveAllFindsDeadlock: a wire that stays down holds packets for good, however long the
// mailboxes are read.
func TestReceiveAllFindsDeadlock(t *testing.T) {
	require.ErrorContains(t, runOnModel(t, func(t *regress.T) error {
		m, err := newWired(t, 2)
		if err != nil {
			return err
		}
		if err := m.nics[0].Set(nictest.Write(regs.WireCtrl(0), regs.WireCtrlDown)); err != nil {
			return err
		}
		if err := m.postTo(0, 1); err != nil {
			return err
		}
		return m.receiveAll()
	}), "deadlock: nothing moves, all mailboxes are empty, and the network still holds packets (1 sent, 0 received")
}
