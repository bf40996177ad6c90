package bus

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// AXI are of what stands between a host and the core behind AXI with a clock of its own. Other
// devices skip them.
func AXI() []regress.Test {
	return []regress.Test{
		{
			Name: "axi/reset", Tags: []string{"smoke"},
			Doc: "core reset through the board page under traffic: outstanding operations fail or are lost, memory is not written afterwards, neighbours continue, and the core works again",
			Run: func(t *regress.T) error {
				return testAXIReset(t, simregs.AXIControl, simregs.AXIReset)
			},
		},
		{
			Name: "axi/function-reset",
			Doc:  "function-level reset under traffic: as by the board page, and the MSI-X table is cleared too",
			Run: func(t *regress.T) error {
				return testAXIReset(t, simregs.AXIFunction, simregs.AXIFunctionReset)
			},
		},
		{
			Name: "axi/interrupts", Tags: []string{"smoke"},
			Doc: "an interrupt message never passes the DMA writes before it",
			Run: func(t *regress.T) error {
				nics, err := openTraffic(t, openAXI)
				if err != nil {
					return err
				}
				return errors.Join(interruptsFollow(nics[0], nics[1]), noStrays(nics))
			},
		},
	}
}

// openAXI is openRMA of a device behind AXI.
func openAXI(t *regress.T) ([]*nictest.NIC, error) {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return nil, err
	}
	return nics, nics[0].Require(simregs.AXIFunction, "a board's own page and resets: rtl:?bus=axi has them")
}

// axiResets is how many systems a core is reset in, in traffic of as many cycles as come by chance:
// what a reset loses in a window counts there for good (pcieLines).
const axiResets = 5

// testAXIReset resets node 1 by a bit of a register that reads 1 until that is over.
func testAXIReset(t *regress.T, register uint32, bit uint64) error {
	refused := 0
	for range axiResets {
		nics, err := openTraffic(t, openAXI)
		if err != nil {
			return err
		}
		n, err := oneAXIReset(t, nics, register, bit)
		if err != nil {
			return err
		}
		refused += n
	}
	t.Notef("%d resets, %d accesses refused meanwhile", axiResets, refused)
	if refused == 0 {
		return errors.New("no access met a reset")
	}
	return nil
}

// oneAXIReset tells how many accesses were refused.
func oneAXIReset(t *regress.T, nics []*nictest.NIC, register uint32, bit uint64) (refused int, err error) {
	here, away := nics[0], nics[1]
	if err := pcieTraffic(t, nics, drivers.Cycle(t.Rand.Intn(900))); err != nil {
		return 0, err
	}
	if refused, err = resetAXI(away, register, bit); err != nil {
		return refused, err
	}
	if resets, err := away.Dev.ReadReg(simregs.AXIResets); err != nil || resets&0xffffffff != 1 {
		return refused, errors.Join(err, fmt.Errorf("RESETS is %d after one", resets&0xffffffff))
	}
	before := bytes.Clone(away.Dev.Memory())
	if err := readUntilEmpty(here); err != nil {
		return refused, err
	}
	if at := firstOther(away.Dev.Memory(), before); at >= 0 {
		return refused, fmt.Errorf("byte 0x%x of the host changed after its NIC was reset", at)
	}
	return refused, errors.Join(asNew(here, away), interruptsFollow(here, away), noStrays(nics))
}

// resetAXI resets a NIC and waits for its end. Every access meanwhile is answered: as ever, or
// refused. It tells how many were refused.
func resetAXI(n *nictest.NIC, register uint32, bit uint64) (refused int, err error) {
	var bus *drivers.BusError
	tolerate := func(err error) error {
		if errors.As(err, &bus) {
			refused++
			return nil
		}
		return err
	}
	if err := tolerate(n.Dev.WriteReg(register, bit)); err != nil {
		return refused, err
	}
	for range 20000 {
		_, err := n.Dev.ReadReg(regs.Magic)
		if err := tolerate(err); err != nil {
			return refused, err
		}
		v, err := n.Dev.ReadReg(register)
		if err := tolerate(err); err != nil {
			return refused, err
		}
		if err == nil && v&bit == 0 {
			return refused, n.Expect(regs.Magic, regs.MagicValue)
		}
	}
	return refused, errors.New("a reset does not end")
}

// noStrays: the bus has answered nothing that nobody asked for.
func noStrays(nics []*nictest.NIC) error {
	for _, n := range nics {
		if err := n.Expect(simregs.AXIStrays, 0); err != nil {
			return err
		}
	}
	return nil
}
