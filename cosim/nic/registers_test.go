package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// rtl/README.md, Registers: a write is done 3 cycles after its address and data were taken, which a
// posted one has been two cycles after its call.
func TestWriteCycles(t *testing.T) {
	r := newRig(t, 1)
	r.set(0, regs.IRQMask, regs.IRQMaskError)
	r.ArmIRQ(0)
	start := r.Now()
	r.PostReg(0, start, regs.MboxRP(0), 77) // impossible: raises IRQ_STATUS.error
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ}}, r.stop.Fired)
	const taken = 2
	require.EqualValues(t, taken+3, r.stop.Now-start)
}

// Registers: a read shows what was so in cycle 2, and its answer comes in cycle 3, a cycle before
// the bus has it.
func TestReadCycles(t *testing.T) {
	r := newRig(t, 1)
	start := r.Now()
	cycles := r.reg(0, regs.Cycles)
	const taken, looked, answered, bus = 2, 2, 1, 1
	require.EqualValues(t, taken+looked+answered+bus, r.Now()-start)
	// CYCLES counts at the end of a cycle.
	require.EqualValues(t, start+taken+looked-1, cycles)
}

// Registers: every access is answered: DECERR outside the map, SLVERR for a write to a read-only
// register.
func TestBadAccesses(t *testing.T) {
	for _, tc := range []struct {
		name  string
		off   uint32
		write bool
		resp  int
	}{
		{"read behind the global page", 0xff8, false, drivers.RespDECERR},
		{"write outside the map", 0xff8, true, drivers.RespDECERR},
		{"read of half a register", regs.Scratch + 4, false, drivers.RespDECERR},
		{"write to MAGIC", regs.Magic, true, drivers.RespSLVERR},
		{"write to MBOX_WP", regs.MboxWP(3), true, drivers.RespSLVERR},
		{"wire without faults", regs.WireErrors(0), false, drivers.RespDECERR},
		{"link that is not built", regs.LinkStatus(5), false, drivers.RespDECERR},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, 1)
			var err error
			if tc.write {
				r.PostReg(0, r.Now(), tc.off, 1)
				err = r.lost()
			} else {
				_, err = r.Device(0).ReadReg(tc.off)
			}
			var bus *drivers.BusError
			require.ErrorAs(t, err, &bus)
			require.Equal(t, drivers.BusError{Port: "register", Off: tc.off, Write: tc.write, Resp: tc.resp}, *bus)
			require.EqualValues(t, 1, r.reg(0, regs.BadAccess))
			require.EqualValues(t, regs.MagicValue, r.reg(0, regs.Magic), "the port goes on")
		})
	}
}

// Registers: base and size of a mailbox or ring are read-only while it is on.
func TestBaseAndSizeAreLocked(t *testing.T) {
	for _, off := range []uint32{regs.MboxBase(5), regs.MboxSlots(5), regs.NotiBase(5), regs.NotiSlots(5)} {
		r := newRig(t, 1)
		r.openProcess(0, 5)
		before := r.reg(0, off)
		r.PostReg(0, r.Now(), off, 0x40)
		var bus *drivers.BusError
		require.ErrorAs(t, r.lost(), &bus, regs.Describe(off))
		require.Equal(t, drivers.RespSLVERR, bus.Resp)
		require.Equal(t, before, r.reg(0, off))
		r.set(0, regs.MboxCtrl(5), 0)
		r.set(0, regs.NotiCtrl(5), 0)
		r.set(0, off, 0x40)
		require.EqualValues(t, 0x40, r.reg(0, off))
	}
}

const holdForGood = forGood | forGood<<32 // both fields

// What a register keeps of all ones, and what it reads after reset (rtl/desc/nicloop.md).
func TestRegisterBits(t *testing.T) {
	for _, tc := range []struct {
		off         uint32
		reset, ones uint64
	}{
		{regs.Scratch, 0, 1<<64 - 1},
		{regs.IRQMask, 0, 1<<34 - 1},
		{regs.MboxBase(2), 0, ^uint64(regs.SlotBytes - 1)},
		{regs.MboxSlots(2), 0, 1<<24 - 1},
		{regs.NotiBase(2), 0, ^uint64(regs.NotiBytes - 1)},
		{regs.NotiSlots(2), 0, 1<<13 - 1},
		{regs.PDID(2), 0, 1<<16 - 1},
		{regs.Hold(2), holdForGood, holdForGood},
		{regs.ATUBase(2), 0, ^uint64(7)},
		{regs.ATUPages(2), 0, 1<<26 - 1},
		{regs.ATUDone, 0, ^uint64(7)},
		{regs.ATUCommand, 0, 0},
		{regs.MboxCtrl(2), 0, regs.MboxCtrlEnable | regs.MboxCtrlWindow | regs.MboxCtrlIRQArrival},
		{regs.NotiCtrl(2), 0, regs.NotiCtrlEnable | regs.NotiCtrlWindow | regs.NotiCtrlIRQ},
		{regs.LinkPatience(0), regs.LinkPatienceAtReset, regs.LinkPatienceCycles.Mask()},
	} {
		r := newRig(t, 1)
		require.Equal(t, tc.reset, r.reg(0, tc.off), regs.Describe(tc.off))
		r.set(0, tc.off, ^uint64(0))
		require.Equal(t, tc.ones, r.reg(0, tc.off), regs.Describe(tc.off))
	}
}

func TestConstantRegisters(t *testing.T) {
	r := newRig(t, 3, func(c *Config) { c.Torus = true })
	require.EqualValues(t, regs.MagicValue, r.reg(2, regs.Magic))
	require.EqualValues(t, regs.VersionValue, r.reg(2, regs.Version))
	require.EqualValues(t, uint64(regs.DescHashValue), r.reg(2, regs.DescHash))
	require.EqualValues(t, 2, r.reg(2, regs.NodeID))
	p := r.reg(2, regs.Params)
	for _, tc := range []struct {
		field regs.Bits
		want  uint64
	}{
		{regs.ParamsNodes, 3}, {regs.ParamsVPIDs, regs.VPIDs}, {regs.ParamsDimX, 3}, {regs.ParamsDimY, 1},
		{regs.ParamsVCDepth, 16}, {regs.ParamsPorts, 3},
	} {
		require.Equal(t, tc.want, tc.field.Of(p))
	}
	require.NotZero(t, p&regs.ParamsTorus)
}

// Every register of the map can be read, and each copy of it.
func TestEveryRegisterCanBeRead(t *testing.T) {
	r := newRig(t, 1)
	for i := range regs.Registers() {
		reg := &regs.Registers()[i]
		for k := range int(max(1, reg.Count)) {
			_, err := r.Device(0).ReadReg(reg.Address(min(k, int(max(1, reg.Count))-1)))
			built := !(len(reg.Name) > 5 && (reg.Name[:5] == "WIRE_" || reg.Name[:5] == "LINK_" && k > 1))
			require.Equal(t, built, err == nil, "%s[%d]: %v", reg.Name, k, err)
		}
	}
}

// Registers: an event that meets its own clear stays; writing 1 clears a cause, and no other.
func TestClearingInterrupts(t *testing.T) {
	r := newRig(t, 1)
	r.PostReg(0, r.Now(), regs.MboxRP(0), 77)
	r.settle()
	require.EqualValues(t, regs.IRQStatusError, r.reg(0, regs.IRQStatus))
	r.set(0, regs.IRQStatus, regs.IRQStatusStall)
	require.EqualValues(t, regs.IRQStatusError, r.reg(0, regs.IRQStatus))
	r.set(0, regs.IRQStatus, regs.IRQStatusError)
	require.Zero(t, r.reg(0, regs.IRQStatus))
}

// ERROR_INFO keeps the first error until software clears it.
func TestErrorInfoKeepsTheFirst(t *testing.T) {
	r := newPair(t)
	wrong := func(length uint8, dst uint8) {
		off := regs.PioFields{Length: length, DstNode: dst, SrcVPID: 3}.Pack()
		r.PostPIO(0, r.Now(), uint32(off), make([]byte, 64))
		require.Error(t, r.lost())
	}
	wrong(57, 1)
	wrong(8, 9)
	require.EqualValues(t, regs.DropReasonBadLength, regs.ErrorInfoReason.Of(r.reg(0, regs.ErrorInfo)))
	require.EqualValues(t, 57, regs.ErrorInfoLength.Of(r.reg(0, regs.ErrorInfo)))
	r.set(0, regs.ErrorInfo, 0)
	require.NotZero(t, r.reg(0, regs.ErrorInfo))
	r.set(0, regs.ErrorInfo, regs.ErrorInfoValid)
	require.Zero(t, r.reg(0, regs.ErrorInfo))
	wrong(8, 9)
	require.EqualValues(t, regs.DropReasonNoSuchNode, regs.ErrorInfoReason.Of(r.reg(0, regs.ErrorInfo)))
}

// An entry of the route table reaches the network; without override it is taken back; those of
// nodes that do not exist read 0.
func TestRouteTable(t *testing.T) {
	r := newRig(t, 2)
	r.set(0, regs.Route(1), regs.RouteOverride|7)
	require.EqualValues(t, regs.RouteOverride|7, r.reg(0, regs.Route(1)))
	require.Equal(t, map[[2]int]int{{0, 1}: 7}, r.net.routes)
	r.set(0, regs.Route(1), 3)
	require.Zero(t, r.reg(0, regs.Route(1)))
	require.Equal(t, map[[2]int]int{{0, 1}: -1}, r.net.routes)
	r.set(0, regs.Route(40), regs.RouteOverride|1)
	require.Zero(t, r.reg(0, regs.Route(40)))
	require.Len(t, r.net.routes, 1)
}

// Where routers belong to no node there is no route table, and the error says why.
func TestSharedRouters(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.Shared = true; c.Info.Topology = "fattree:4" })
	_, err := r.Device(0).ReadReg(regs.Route(1))
	require.ErrorContains(t, err, "fattree:4")
	require.Zero(t, regs.ParamsDimX.Of(r.reg(0, regs.Params)))
}

// TX_LEVEL and RX_LEVEL show what waits, class by class.
func TestLevels(t *testing.T) {
	r := newPair(t)
	r.net.noCredit[SourceVELO] = true
	r.send(0, 3, 1, 5, nil)
	r.settle()
	v := r.reg(0, regs.TXLevel)
	require.EqualValues(t, 1, regs.TXLevelLines.Of(v))
	require.EqualValues(t, 10, regs.TXLevelCredits0.Of(v))
	require.EqualValues(t, 12, regs.TXLevelCredits2.Of(v))
	require.EqualValues(t, 1, regs.LevelLines.Of(r.reg(0, regs.Level(3))))
	require.Zero(t, r.reg(1, regs.RXLevel))
	require.EqualValues(t, 8, r.reg(1, regs.RouteErrors))
}

// Registers: reads wait for the 17 cycles after reset in which the tables are cleared; a write of
// SCRATCH does not.
func TestAccessesAfterReset(t *testing.T) {
	m := New(Config{Info: drivers.Info{Nodes: 1, Dims: [3]int{1, 1, 1}}, Memory: 1 << 12, Timing: RTL().NIC})
	m.Connect(&fakeNetwork{part: m.Part(0), ends: make([]networkEnd, 1)})
	v, err := m.Device(0).ReadReg(regs.MboxSlots(0))
	require.NoError(t, err)
	require.Zero(t, v)
	require.EqualValues(t, 17+2, m.Now(), "and two for the answer")
}
