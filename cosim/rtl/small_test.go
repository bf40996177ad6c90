package rtl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	smallBoard   = "rtl:?uart=pty&size=small"
	smallNetlist = "rtl:?uart=pty&netlist=ice40"
)

// openSmall opens the small board of a URI.
func openSmall(t *testing.T, uri string) *boards {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a simulator, or a netlist")
	}
	if _, err := exec.LookPath("yosys"); err != nil && uri == smallNetlist && os.Getenv("CI") == "" {
		t.Skip("needs yosys: scripts/setup-debian.sh")
	}
	sys, err := registry.Open(t.Context(), uri, drivers.Options{Nodes: 1, Progress: func(what string) { t.Log(what) }})
	require.NoError(t, err)
	return sys.(*boards)
}

// TestSmallBoardEnds: the small board reports its number of processes. Registers of other
// processes, of RMA and of routes do not exist, descriptors are refused, and accesses beyond memory
// fail.
func TestSmallBoardEnds(t *testing.T) {
	sys := openSmall(t, smallBoard)
	defer func() { require.NoError(t, sys.Close()) }()
	dev, info := sys.Device(0), sys.Info()
	require.Equal(t, 2, info.VPIDs)
	require.Len(t, dev.Memory(), 4096)
	params, err := dev.ReadReg(regs.Params)
	require.NoError(t, err)
	require.EqualValues(t, []uint64{1, 2, 2}, []uint64{regs.ParamsNodes.Of(params), regs.ParamsVPIDs.Of(params), regs.ParamsPorts.Of(params)})
	last := uint8(info.VPIDs)
	var bus *drivers.BusError
	for _, off := range []uint32{regs.PDID(last), regs.MboxBase(last), regs.MboxRP(last), regs.VELOWindow(last), regs.PDID(15), regs.NotiBase(0), regs.NotiRP(0), regs.RMAWindow(0), regs.ATUBase(0), regs.Route(0)} {
		_, err := dev.ReadReg(off)
		require.ErrorAs(t, err, &bus, regs.Describe(off))
		require.Equal(t, 3, bus.Resp, regs.Describe(off))
		require.ErrorAs(t, dev.WriteReg(off, 1), &bus, regs.Describe(off))
	}
	setRegs(t, dev, [2]uint64{uint64(regs.PDID(0)), 1}, [2]uint64{uint64(regs.MboxCtrl(0)), regs.MboxCtrlWindow})
	descriptor := regs.RMAPioFields{RMA: regs.RMALine}
	require.ErrorAs(t, dev.WritePIO(uint32(descriptor.Pack()), make([]byte, 24)), &bus)
	require.ErrorAs(t, dev.WritePIO(uint32(regs.PioFields{SrcVPID: last}.Pack()), make([]byte, 8)), &bus)
	dropped, err := dev.ReadReg(regs.TXDropped)
	require.NoError(t, err)
	require.EqualValues(t, 2, dropped)
	_, err = registry.Open(t.Context(), smallBoard, drivers.Options{Nodes: 1, MemoryBytes: 8192})
	require.ErrorContains(t, err, "8192 bytes of memory: the small board has 4096")
}

// TestNetlistIsTheRTL: the netlist of the bitstream behaves like the RTL: the same packets arrive,
// and finally every register has the same value, except for the clock.
func TestNetlistIsTheRTL(t *testing.T) {
	rtl, netlist := smallRun(t, smallBoard), smallRun(t, smallNetlist)
	require.Greater(t, len(rtl), 100)
	require.Equal(t, rtl, netlist)
}

// smallRun sends between the two processes, provokes every error on the path, and returns the
// packets and registers.
func smallRun(t *testing.T, uri string) (said []string) {
	sys := openSmall(t, uri)
	defer func() { require.NoError(t, sys.Close()) }()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Minute, errors.New("nothing came for three minutes"))
	defer cancel()
	dev := sys.Device(0)
	boxes := []*boardBox{newBoardBox(t, dev, 0, 0, 4), newBoardBox(t, dev, 1, 0x400, 3)}
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 40 {
		from, to := rnd.IntN(2), rnd.IntN(2)
		payload := make([]byte, rnd.IntN(regs.VELOPayload+1))
		for j := range payload {
			payload[j] = byte(rnd.Uint32())
		}
		f := regs.PioFields{Length: uint8(len(payload)), DstVPID: uint8(to), SrcVPID: uint8(from)}
		require.NoError(t, dev.WritePIO(uint32(f.Pack()), payload))
		head, got, err := boxes[to].next(ctx)
		require.NoError(t, err)
		require.Equal(t, payload, got)
		said = append(said, fmt.Sprintf("%+v %x", head, got))
	}
	wrong := []regs.PioFields{{DstNode: 1}, {Length: 57}, {SrcVPID: 2}, {DstVPID: 2}}
	for _, f := range wrong {
		said = append(said, fmt.Sprint(dev.WritePIO(uint32(f.Pack()), make([]byte, 8))))
	}
	for range 10 { // exceeds the capacity of the mailbox: the rest stays in the NIC
		said = append(said, fmt.Sprint(dev.WritePIO(uint32(regs.PioFields{Length: 8}.Pack()), make([]byte, 8))))
	}
	said = append(said, fmt.Sprint(dev.WriteReg(regs.MboxRP(0), 1000), dev.WriteReg(regs.Magic, 0)))
	for _, r := range regs.Registers() {
		for i := range int(r.Count) {
			if r.Address(i) == regs.Cycles || r.Address(i) == regs.TXStall || r.Address(i) == regs.RXStall || r.Address(i) == regs.MboxStall(0) { // free-running
				continue
			}
			v, err := dev.ReadReg(r.Address(i))
			said = append(said, fmt.Sprintf("%s %x %v", regs.Describe(r.Address(i)), v, err))
		}
	}
	return said
}
