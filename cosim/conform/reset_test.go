package conform

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
)

// settings are all registers that software sets.
func settings(t *testing.T, dev drivers.Device) map[string]uint64 {
	values := map[string]uint64{}
	for _, r := range regs.Registers() {
		if r.Access != regs.RW || strings.HasSuffix(r.Name, "_RP") || r.Name == "ATU_DONE" || r.Name == "ATU_COMMAND" ||
			r.Name == "LINK_CTRL" || strings.HasPrefix(r.Name, "WIRE_") {
			continue
		}
		for i := range int(r.Count) {
			v, err := dev.ReadReg(r.Address(i))
			var bus *drivers.BusError
			if errors.As(err, &bus) && strings.HasPrefix(r.Name, "LINK_") {
				continue // ideal: has none
			}
			require.NoError(t, err, r.Name)
			values[regs.Describe(r.Address(i))] = v
		}
	}
	return values
}

func TestReset(t *testing.T) {
	everyBackend(t, func(t *testing.T, open func(drivers.Options) (drivers.System, error)) {
		sys, err := open(drivers.Options{})
		require.NoError(t, err)
		defer sys.Close()
		resetOne(t, sys.Device(0))
	})
}

func resetOne(t *testing.T, dev drivers.Device) {
	fresh := settings(t, dev)
	changed, err := process.ResetNIC(dev, false)
	require.NoError(t, err)
	require.Empty(t, changed, "nothing is changed after reset")

	touched := 0
	for _, r := range regs.Registers() {
		if _, set := fresh[regs.Describe(r.Offset)]; !set || r.Name == "PDID" || strings.HasSuffix(r.Name, "_CTRL") || strings.HasSuffix(r.Name, "_WINDOW") {
			continue
		}
		for i := range int(r.Count) {
			require.NoError(t, dev.WriteReg(r.Address(i), 0x1009))
			touched++
		}
	}
	require.NoError(t, process.Join(dev, 3, 7))
	require.NoError(t, dev.WriteReg(regs.MboxCtrl(3), regs.MboxCtrlEnable|regs.MboxCtrlWindow))
	require.NoError(t, dev.WriteReg(regs.NotiCtrl(3), regs.NotiCtrlEnable))
	require.NoError(t, dev.WriteReg(regs.MboxRP(3), 99)) // raises IRQ_STATUS.error
	require.NotEqual(t, fresh, settings(t, dev))
	require.Greater(t, touched, 100)

	changed, err = process.ResetNIC(dev, false)
	require.NoError(t, err)
	require.Equal(t, fresh, settings(t, dev))
	require.Contains(t, changed, "process 3 left domain 7")
	require.Contains(t, changed, "MBOX_BASE[2] 0x1000 -> 0x0")
	status, err := dev.ReadReg(regs.IRQStatus)
	require.NoError(t, err)
	require.Zero(t, status)
	changed, err = process.ResetNIC(dev, false)
	require.NoError(t, err)
	require.Empty(t, changed)
}
