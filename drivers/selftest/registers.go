package selftest

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

func identity(_ *tester, n *node) (string, error) {
	for range 2 {
		for _, r := range []struct {
			off    uint32
			want   uint64
			advice string
		}{
			{regs.Magic, regs.MagicValue, "all ones: the way to the device is dead; else it is no nicloop NIC, or data lines are crossed"},
			{regs.Version, regs.VersionValue, "load a bitstream of this release"},
			{regs.DescHash, regs.DescHashValue, "load a bitstream of this release"},
			{regs.NodeID, uint64(n.number), "boards are listed in the wrong order, or the straps of the node number are wrong"},
		} {
			if err := n.expect(r.off, r.want, r.advice); err != nil {
				return "", err
			}
		}
	}
	return "MAGIC, VERSION, DESC_HASH, NODE_ID", nil
}

// scratch tests SCRATCH with a walking one, a walking zero and random values. It reports all bits
// that were ever wrong.
func scratch(t *tester, n *node) (did string, err error) {
	before, err := n.dev.ReadReg(regs.Scratch)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, n.write(regs.Scratch, before)) }()
	list := []uint64{0, ^uint64(0)}
	for i := range 64 {
		list = append(list, 1<<i, ^(uint64(1) << i))
	}
	r := rand.New(rand.NewPCG(t.cfg.Seed, 1))
	for range 64 {
		list = append(list, r.Uint64())
	}
	var wrong, want, got uint64
	for _, v := range list {
		if err := n.write(regs.Scratch, v); err != nil {
			return "", err
		}
		back, err := n.dev.ReadReg(regs.Scratch)
		if err != nil {
			return "", err
		}
		if back != v && wrong == 0 {
			want, got = v, back
		}
		wrong |= back ^ v
	}
	if wrong != 0 {
		return "", &Fault{"SCRATCH " + bitsText(wrong), hex(want), hex(got), "these bits of the register path are stuck, open or shorted: look at the bus, then at the pins"}
	}
	return fmt.Sprintf("%d values", len(list)), nil
}

func bitsText(mask uint64) string {
	if bits.OnesCount64(mask) > 8 {
		return fmt.Sprintf("bits 0x%x", mask)
	}
	var list []string
	for m := mask; m != 0; m &= m - 1 {
		list = append(list, fmt.Sprint(bits.TrailingZeros64(m)))
	}
	if len(list) == 1 {
		return "bit " + list[0]
	}
	return "bits " + strings.Join(list, ", ")
}

// baseRegisters hold any aligned address while their rings and tables are disabled.
var baseRegisters = []string{"MBOX_BASE", "NOTI_BASE", "ATU_BASE", "NVM_BASE"}

// addresses detects registers that alias: it writes all registers before it reads the first.
func addresses(_ *tester, n *node) (did string, err error) {
	type base struct {
		off          uint32
		before, mine uint64
	}
	var list []base
	for _, name := range baseRegisters {
		r, _ := regs.ByName(name)
		for i := range int(r.Count) {
			off := r.Address(i)
			v, err := n.dev.ReadReg(off)
			if err != nil {
				return "", err
			}
			list = append(list, base{off, v, uint64(len(list)+1) << 12})
		}
	}
	defer func() {
		for _, c := range list {
			err = errors.Join(err, n.write(c.off, c.before))
		}
	}()
	for _, c := range list {
		if err := n.write(c.off, c.mine); err != nil {
			return "", err
		}
	}
	for _, c := range list {
		got, err := n.dev.ReadReg(c.off)
		if err != nil {
			return "", err
		}
		if got == c.mine {
			continue
		}
		found := hex(got)
		if i := got>>12 - 1; got&0xfff == 0 && i < uint64(len(list)) {
			other := list[i].off
			found += fmt.Sprintf(", which was written to %s: addresses differ in %s", regs.Describe(other), bitsText(uint64(other^c.off)))
		}
		return "", &Fault{regs.Describe(c.off), hex(c.mine), found, "an address line of the register path is stuck, or a write is lost"}
	}
	return fmt.Sprintf("%d registers", len(list)), nil
}

// refusals accesses an address without a register; the error response must not hang the bus.
func refusals(_ *tester, n *node) (string, error) {
	const nowhere = 0xff8
	before, err := n.dev.ReadReg(regs.BadAccess)
	if err != nil {
		return "", err
	}
	v, err := n.dev.ReadReg(nowhere)
	var bus *drivers.BusError
	if err != nil && !errors.As(err, &bus) {
		return "", err
	}
	if err == nil && v != ^uint64(0) { // PCIe returns all ones for a refused read
		return "", &Fault{fmt.Sprintf("register 0x%x, which is none", nowhere), "a refusal", hex(v), "the decoder of addresses answers for what is not there"}
	}
	n.caused[regs.BadAccess]++
	return "one access", n.expect(regs.BadAccess, before+1, "a refused access is not counted")
}

// errorCounters are the counters that only a check which declares it may increment.
func errorCounters() []uint32 {
	return []uint32{regs.BadAccess, regs.RPRefused, regs.DomainRefused, regs.TXDropped, regs.RXDropped, regs.RXCRCErrors, regs.RouteErrors,
		regs.RMARefused, regs.RMARXDropped, regs.RMAErrors, regs.RMANotiOff, regs.RMALate, regs.ATUFaults, regs.ATURefused, regs.ATUDoneErrors}
}

func countersCheck(_ *tester, n *node) (string, error) {
	for _, off := range errorCounters() {
		if err := n.expect(off, n.before[off]+n.caused[off], "something failed although all data came: docs of the register say what it counts"); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d counters", len(errorCounters())), nil
}
