package regress

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// axiTests are of what stands between a host and the core behind AXI with a clock of its own. Other
// devices skip them.
var axiTests = []Test{
	{"axi/reset", []string{"smoke"}, "a core that is reset in traffic by its board's page: what was under way is refused or lost, no memory changes behind it, neighbours go on, and it works again", func(t *T) error {
		return testAXIReset(t, simregs.AXIControl, simregs.AXIReset)
	}},
	{"axi/function-reset", nil, "the same by a function-level reset, which forgets the MSI-X table too", func(t *T) error {
		return testAXIReset(t, simregs.AXIFunction, simregs.AXIFunctionReset)
	}},
	{"axi/interrupts", []string{"smoke"}, "the message of an interrupt never passes what it tells of", func(t *T) error {
		nics, err := openTraffic(t, openAXI)
		if err != nil {
			return err
		}
		return errors.Join(interruptsFollow(nics[0], nics[1]), noStrays(nics))
	}},
}

// openAXI is openRMA of a device behind AXI.
func openAXI(t *T) ([]*nic, error) {
	nics, err := t.openRMA(2)
	if err != nil {
		return nil, err
	}
	return nics, nics[0].needs(simregs.AXIFunction, "a board's own page and resets: rtl:?bus=axi has them")
}

// oneWay: the host's accesses to registers and send windows go one behind the other.
func (n *nic) oneWay() bool {
	return !n.dev.Capabilities().Has(drivers.CanAnswerWrites) || n.needs(simregs.AXIFunction, "") == nil
}

// axiResets is how many systems a core is reset in, in traffic of as many cycles as come by chance:
// what a reset loses in a window counts there for good (pcieLines).
const axiResets = 5

// testAXIReset resets node 1 by a bit of a register that reads 1 until that is over.
func testAXIReset(t *T, register uint32, bit uint64) error {
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
func oneAXIReset(t *T, nics []*nic, register uint32, bit uint64) (refused int, err error) {
	here, away := nics[0], nics[1]
	if err := pcieTraffic(t, nics, drivers.Cycle(t.Rand.Intn(900))); err != nil {
		return 0, err
	}
	if refused, err = resetAXI(away, register, bit); err != nil {
		return refused, err
	}
	if resets, err := away.dev.ReadReg(simregs.AXIResets); err != nil || resets&0xffffffff != 1 {
		return refused, errors.Join(err, fmt.Errorf("RESETS is %d after one", resets&0xffffffff))
	}
	before := bytes.Clone(away.dev.Memory())
	if err := readUntilEmpty(here); err != nil {
		return refused, err
	}
	if at := firstOther(away.dev.Memory(), before); at >= 0 {
		return refused, fmt.Errorf("byte 0x%x of the host changed after its NIC was reset", at)
	}
	return refused, errors.Join(asNew(here, away), interruptsFollow(here, away), noStrays(nics))
}

// resetAXI resets a NIC and waits for its end. Every access meanwhile is answered: as ever, or
// refused. It tells how many were refused.
func resetAXI(n *nic, register uint32, bit uint64) (refused int, err error) {
	var bus *drivers.BusError
	tolerate := func(err error) error {
		if errors.As(err, &bus) {
			refused++
			return nil
		}
		return err
	}
	if err := tolerate(n.dev.WriteReg(register, bit)); err != nil {
		return refused, err
	}
	for range 20000 {
		_, err := n.dev.ReadReg(regs.Magic)
		if err := tolerate(err); err != nil {
			return refused, err
		}
		v, err := n.dev.ReadReg(register)
		if err := tolerate(err); err != nil {
			return refused, err
		}
		if err == nil && v&bit == 0 {
			return refused, n.expect(regs.Magic, regs.MagicValue)
		}
	}
	return refused, errors.New("a reset does not end")
}

// noStrays: the bus has answered nothing that nobody asked for.
func noStrays(nics []*nic) error {
	for _, n := range nics {
		if err := n.expect(simregs.AXIStrays, 0); err != nil {
			return err
		}
	}
	return nil
}
