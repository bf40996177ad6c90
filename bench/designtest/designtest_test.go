package designtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/designtest"
	"github.com/nicloop/nicloop/bench/regress"
	_ "github.com/nicloop/nicloop/drivers/all"
	"github.com/stretchr/testify/require"
)

// run runs a test on the model of the NIC, which needs no build.
func run(t *testing.T, body func(*designtest.System) error) regress.Outcome {
	t.Helper()
	x := regress.Test{Name: "mine/test", Run: func(t *regress.T) error {
		sys, err := designtest.Open(t, 2, 1<<20)
		if err != nil {
			return err
		}
		return body(sys)
	}}
	list, err := regress.Run(context.Background(), []regress.Test{x}, regress.Options{
		Device: "model:", Seed: 1, Seeds: 1, Jobs: 1, Timeout: time.Minute, Dir: t.TempDir(), NoWaves: true, NoLockstep: true,
	})
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// refused makes the NIC raise the interrupt: a read pointer is refused while its mailbox is off.
func refused(d *designtest.Node) *designtest.Node {
	return d.Set("IRQ_MASK.error", 1).Set("MBOX_RP[3]", 5)
}

func TestInterrupt(t *testing.T) {
	out := run(t, func(sys *designtest.System) error {
		node := refused(sys.Node(1))
		if err := sys.Until(node.Interrupt(), 1000); err != nil {
			return err
		}
		if err := node.Expect("RP_REFUSED", 1); err != nil {
			return err
		}
		if err := sys.Until(node.Equals("IRQ_STATUS.error", 1), 10); err != nil {
			return err
		}
		node.Set("IRQ_STATUS", node.Get("IRQ_STATUS")) // clears it
		err := sys.Until(node.Interrupt(), 200)
		require.ErrorIs(t, err, designtest.ErrTimeout)
		require.ErrorContains(t, err, "node 1: interrupt: not within 200 cycles")
		before := sys.Now()
		require.NoError(t, sys.Wait(50))
		require.Equal(t, before+50, sys.Now())
		return node.Expect("IRQ_STATUS.error", 0)
	})
	require.Equal(t, regress.Passed, out.Status, "%v", out.Err)
}

// The other node has no interrupt.
func TestInterruptOfOneNode(t *testing.T) {
	out := run(t, func(sys *designtest.System) error {
		refused(sys.Node(1))
		return sys.Until(sys.Node(0).Interrupt(), 300)
	})
	require.Equal(t, regress.Failed, out.Status)
	require.ErrorContains(t, out.Err, "node 0: interrupt: not within 300 cycles")
}

// A wrong name fails the test, although nothing looks at an error, and nothing after it counts.
func TestWrongNames(t *testing.T) {
	for name, expected := range map[string]string{
		"IRQ_MASQ":       `node 0: IRQ_MASQ: unknown register "IRQ_MASQ"`,
		"IRQ_MASK.eror":  `node 0: IRQ_MASK.eror: register IRQ_MASK has no field "eror"`,
		"MBOX_RP[99]":    `node 0: MBOX_RP[99]: register MBOX_RP[99] does not exist`,
		"MBOX_RP[3].foo": `register MBOX_RP has no field "foo"`,
	} {
		out := run(t, func(sys *designtest.System) error {
			d := sys.Node(0).Set(name, 1)
			require.Zero(t, d.Get("MAGIC"))
			require.Error(t, sys.Until(d.Interrupt(), 10))
			require.Error(t, sys.Wait(10))
			require.Error(t, d.Expect("MAGIC", 0))
			return nil
		})
		require.Equal(t, regress.Failed, out.Status, name)
		require.ErrorContains(t, out.Err, expected)
	}
}

func TestExpect(t *testing.T) {
	out := run(t, func(sys *designtest.System) error { return sys.Node(0).Expect("IRQ_MASK", 7) })
	require.Equal(t, regress.Failed, out.Status)
	require.ErrorContains(t, out.Err, "node 0: IRQ_MASK is 0x0, expected 0x7")
}
