package pacing_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Many more lines than there are entries, to a mailbox of two slots: none is refused, and all
// arrive in order. Without pacing most are refused.
func TestNoneIsRefused(t *testing.T) {
	const lines, slots = 100, 2
	for _, paces := range []bool{true, false} {
		below, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: 2, MemoryBytes: 1 << 12})
		require.NoError(t, err)
		sys := below.(drivers.Timed)
		if paces {
			sys = pacing.NewSystem(sys)
		}
		var stop drivers.Stop
		for n := range 2 {
			sys.PostReg(n, 0, regs.PDID(3), 1)
			sys.PostReg(n, 0, regs.MboxSlots(3), slots)
			sys.PostReg(n, 0, regs.MboxCtrl(3), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		}
		require.NoError(t, sys.Run(drivers.Forever, &stop))
		off := uint32(regs.PioFields{SrcVPID: 3, DstNode: 1, DstVPID: 3, Length: 8}.Pack())
		for i := range uint64(lines) {
			require.NoError(t, sys.Device(0).WritePIO(off, binary.LittleEndian.AppendUint64(nil, i)))
		}
		require.NoError(t, sys.Run(drivers.Forever, &stop))
		require.False(t, stop.Idle)
		got := uint64(0)
		for ; got < lines; got++ {
			slot := sys.Device(1).Memory()[got%slots*regs.SlotBytes:][:regs.SlotBytes]
			if uint64(regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:])).Seq()) != got+1 {
				break
			}
			require.Equal(t, got, binary.LittleEndian.Uint64(slot))
			sys.PostReg(1, sys.Now(), regs.MboxRP(3), got+1)
			require.NoError(t, sys.Run(drivers.Forever, &stop))
		}
		require.True(t, stop.Idle)
		window, err := sys.Device(0).ReadReg(regs.VELOWindow(3))
		require.NoError(t, err)
		if paces {
			require.EqualValues(t, lines, got)
			require.EqualValues(t, lines, window)
		} else {
			require.Less(t, got, uint64(lines))
			require.NotZero(t, window&regs.VELOWindowRetry)
		}
		require.NoError(t, sys.Close())
	}
}
