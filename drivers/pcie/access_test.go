//go:build linux

package pcie

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Neighbours are one segment, and what only root is told is an error that says so.
func TestPhysical(t *testing.T) {
	mem, err := unix.Mmap(-1, 0, 6*largePage, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	require.NoError(t, err)
	defer func() { _ = unix.Munmap(mem) }()
	mem = mem[-uintptr(unsafe.Pointer(&mem[0]))&(largePage-1):][:4*largePage]
	pagemap := filepath.Join(t.TempDir(), "pagemap")
	f, err := os.Create(pagemap) // with holes: as long as the address is high
	require.NoError(t, err)
	defer f.Close()
	put := func(page int, e uint64) {
		at := int64(uintptr(unsafe.Pointer(&mem[page*largePage])) / smallPage * 8)
		_, err := f.WriteAt(binary.NativeEndian.AppendUint64(nil, e), at)
		require.NoError(t, err)
	}
	for i, pfn := range []uint64{0x40000, 0x40200, 0x10000, 0x40400} {
		put(i, pagePresent|pfn)
	}
	list, err := physical(pagemap, mem)
	require.NoError(t, err)
	require.Equal(t, []drivers.Segment{
		{Addr: 0x40000000, Bytes: 2 * largePage}, {Off: 2 * largePage, Addr: 0x10000000, Bytes: largePage}, {Off: 3 * largePage, Addr: 0x40400000, Bytes: largePage},
	}, list)
	put(2, pagePresent)
	_, err = physical(pagemap, mem)
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "only root")
	put(2, 0x10000)
	_, err = physical(pagemap, mem)
	require.ErrorIs(t, err, drivers.ErrEnvironment, "it is not there")
}

// A kind of access that is not there says what is missing.
func TestAccess(t *testing.T) {
	s := newSlot(t)
	_, err := registry.Open(context.Background(), "pcie:"+address+"?dma=large&root="+s.root, drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.NoError(t, os.Symlink("../drivers/vfio-pci", filepath.Join(s.dir, "driver")))
	_, err = s.open()
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "has no IOMMU group")
	require.ErrorContains(t, err, "intel_iommu=on")
	require.NoError(t, os.Symlink("../../kernel/iommu_groups/7", filepath.Join(s.dir, "iommu_group")))
	_, err = s.open()
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "dev/vfio/vfio")
	_, err = registry.Open(context.Background(), "pcie:"+address+"?dma=hugepage&root="+s.root, drivers.Options{})
	require.ErrorContains(t, err, "the driver vfio-pci is bound to "+address, "whose memory is not by physical address")
}

// COMMAND is changed where it must be, and nowhere else.
func TestCommand(t *testing.T) {
	s := newSlot(t)
	config := make([]byte, 64)
	for i := range config {
		config[i] = 0xa0
	}
	s.file("config", config)
	f := &files{dir: s.dir}
	require.NoError(t, f.command(commandBusMaster|commandMemory, commandNoINTx))
	config[commandAt], config[commandAt+1] = 0xa6, 0xa0
	require.Equal(t, config, s.read("config"))
	require.NoError(t, f.command(commandNoINTx, commandBusMaster))
	config[commandAt], config[commandAt+1] = 0xa2, 0xa4
	require.Equal(t, config, s.read("config"))
}

// A store waits while the window has no entry, as its register says.
func TestStoresWait(t *testing.T) {
	s := newSlot(t)
	sys, err := s.open()
	require.NoError(t, err)
	defer sys.Close()
	dev := sys.Device(0)
	s.register(regs.VELOWindow(0), uint64(regs.VELOLines)<<16|regs.VELOLines)
	require.NoError(t, dev.WriteReg(regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow))
	for range regs.VELOLines {
		require.NoError(t, dev.WritePIO(0, make([]byte, 8)))
	}
	done := make(chan error, 1)
	go func() { done <- dev.WritePIO(0, make([]byte, 8)) }()
	select {
	case <-done:
		t.Fatal("a line was posted for which there is no entry")
	case <-time.After(50 * time.Millisecond):
	}
	s.register(regs.VELOWindow(0), regs.VELOLines) // all have left
	require.NoError(t, <-done)
}
