package vm

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/sharedmem"
)

// The NIC can access the guest's memory while bus mastering is enabled, and never a ROM.
func TestBusMaster(t *testing.T) {
	const bytes = 4 << 20
	sys, err := registry.Open(context.Background(), "model:?clock=wall", drivers.Options{Nodes: 1, MemoryBytes: bytes})
	require.NoError(t, err)
	defer sys.Close()
	m, err := newGuestMemory(sys.(drivers.Lender), 0, bytes)
	require.NoError(t, err)
	defer m.close()
	require.ErrorIs(t, m.reach(true), drivers.ErrProtocol, "QEMU has shared nothing")

	file := func(n uint64) *os.File {
		f, err := sharedmem.File(n)
		require.NoError(t, err)
		return f
	}
	rom, ram := file(1<<18), file(bytes)
	look, err := sharedmem.Map(ram, bytes)
	require.NoError(t, err)
	defer sharedmem.Free(look)
	files := []*os.File{rom, ram}
	require.NoError(t, m.take([]region{{0xfffc0000, 1 << 18, 0}, {0x1000, 0x2000, 0x1000}}, &files))
	require.Nil(t, files[1], "the guest's memory is kept")
	require.NotNil(t, files[0])
	closeFiles(files)

	nic := sys.Device(0).Memory() // as used by DMA
	nic[5] = 1
	require.Zero(t, look[5])
	require.NoError(t, m.reach(true))
	require.Zero(t, nic[5])
	nic[5] = 2
	require.EqualValues(t, 2, look[5])
	require.NoError(t, m.reach(false))
	nic[5] = 3
	require.EqualValues(t, 2, look[5], "no bus master any more")

	again, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(m.file.Fd())), os.O_RDWR, 0)
	require.NoError(t, err)
	defer again.Close()
	require.ErrorIs(t, m.take([]region{{0x1000, 0x2000, 0x5000}}, &[]*os.File{again}), drivers.ErrProtocol, "not where it is in the file")
}

// Behind an IOMMU the NIC can access exactly the pages that are currently mapped.
func TestPagesComeAndGo(t *testing.T) {
	const bytes = 4 << 20
	sys, err := registry.Open(context.Background(), "model:?clock=wall", drivers.Options{Nodes: 1, MemoryBytes: bytes})
	require.NoError(t, err)
	defer sys.Close()
	m, err := newGuestMemory(sys.(drivers.Lender), 0, bytes)
	require.NoError(t, err)
	defer m.close()
	ram, err := sharedmem.File(bytes)
	require.NoError(t, err)
	require.NoError(t, m.take([]region{{0, bytes, 0}}, &[]*os.File{ram}))
	c := &chipset{m.table}
	c.tableOf(0x5000)
	c.put(0x5000+8*3, 0x107003)
	m.chip, m.on, m.root = &qtest{}, true, 0x1000
	require.NoError(t, m.follow())
	nic, guest := sys.Device(0).Memory(), m.table.mem
	nic[0x3010], nic[0x4010] = 1, 1
	require.EqualValues(t, 1, guest[0x107010])
	c.put(0x5000+8*3, 0)
	c.put(0x5000+8*4, 0x108003)
	require.NoError(t, m.follow())
	nic[0x3010], nic[0x4010] = 2, 2
	require.EqualValues(t, 1, guest[0x107010], "unmapped")
	require.EqualValues(t, 2, guest[0x108010])
	require.NoError(t, m.reach(false))
	nic[0x4010] = 3
	require.EqualValues(t, 2, guest[0x108010])
}
