package freerun_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// What lies in a file is what the NIC writes, and who looks at the file sees it.
func TestLentMemoryIsTheNICs(t *testing.T) {
	everyBody(t, func(t *testing.T, uri string) {
		sys := openAlone(t, uri)
		l := sys.(drivers.Lender)
		require.True(t, sys.Device(1).Capabilities().Has(drivers.CanLend))
		f, err := os.Create(filepath.Join(t.TempDir(), "piece"))
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, f.Truncate(4096))
		require.NoError(t, l.Lend(1, 0, 4096, f, 0))
		box, err := sys.Device(1).Await(drivers.Cause{Off: 0, Bytes: slots * regs.SlotBytes})
		require.NoError(t, err)
		require.NoError(t, sendTo1(sys.Device(0), 0x1234))
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for v, ok := take(sys.Device(1), 1); !ok || v != 0x1234; v, ok = take(sys.Device(1), 1) {
			require.NoError(t, box.Wait(ctx))
		}
		var there [2]byte
		_, err = f.ReadAt(there[:], 0)
		require.NoError(t, err)
		require.Equal(t, [2]byte{0x34, 0x12}, there)

		for _, bad := range [][3]uint64{{0, 8192, 1}, {1, 4096, 1}, {0, 4096, 2}, {1 << 16, 4096, 1}} {
			require.ErrorIs(t, l.Lend(int(bad[2]), bad[0], bad[1], f, 0), drivers.ErrConfig, "%v", bad)
		}
	})
}

// Whoever asks is told of what was refused, and the machine goes on; nobody can post so much that
// it is the machine's end.
func TestFaultsOfOneEndNobody(t *testing.T) {
	everyBody(t, func(t *testing.T, uri string) {
		sys := openAlone(t, uri)
		l := sys.(drivers.Lender)
		told := make(chan error, 1000)
		l.OnFault(func(err error) { told <- err })
		require.NoError(t, sys.Device(0).WriteReg(regs.Magic, 1))
		off := uint32(regs.PioFields{Length: 8, SrcVPID: 9, DstNode: 1}.Pack()) // whose window is off
		for range 200 {
			require.NoError(t, l.Post(0, off, make([]byte, 8)))
		}
		require.NoError(t, l.Drain(0, 9))
		require.NoError(t, sendTo1(sys.Device(0), 5))
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		var bus *drivers.BusError
		ports := map[string]int{}
		for range 201 {
			select {
			case err := <-told:
				require.ErrorAs(t, err, &bus)
				ports[bus.Port]++
				if bus.Port == "pio" {
					require.EqualValues(t, 9, regs.Pio(bus.Off).SrcVPID())
				}
			case <-ctx.Done():
				t.Fatalf("told of %v", ports)
			}
		}
		require.Equal(t, map[string]int{"pio": 200, "register": 1}, ports)
		v, err := sys.Device(1).ReadReg(regs.Magic)
		require.NoError(t, err)
		require.EqualValues(t, regs.MagicValue, v)
	})
}

// No cycles pass in a machine in which nothing moves, so it costs no processor.
func TestIdleSleeps(t *testing.T) {
	everyBody(t, func(t *testing.T, uri string) {
		sys := openAlone(t, uri)
		require.NoError(t, sendTo1(sys.Device(0), 1))
		time.Sleep(50 * time.Millisecond)
		before, now := cycles(t, sys), uint64(0)
		for range 3 {
			time.Sleep(100 * time.Millisecond)
			now = cycles(t, sys)
		}
		require.Less(t, now-before, uint64(10000), "cycles in 0.3 s for three reads")
	})
}

func cycles(t *testing.T, sys drivers.System) uint64 {
	v, err := sys.Device(0).ReadReg(regs.Cycles)
	require.NoError(t, err)
	return v
}
