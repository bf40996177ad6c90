//go:build linux

package pcie

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const address = "0000:03:00.0"

// A slot is a tree with one board, whose BARs are files.
type slot struct {
	t         *testing.T
	root, dir string
}

func newSlot(t *testing.T) *slot {
	s := &slot{t: t, root: t.TempDir()}
	s.dir = filepath.Join(s.root, "sys/bus/pci/devices", address)
	require.NoError(t, os.MkdirAll(s.dir, 0o755))
	s.file("enable", []byte("0\n"))
	s.file("resource0", make([]byte, registerEnd))
	s.file("resource2", make([]byte, 1<<16))
	s.register(regs.Magic, regs.MagicValue)
	s.register(regs.DescHash, regs.DescHashValue)
	return s
}

func (s *slot) file(name string, b []byte) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), b, 0o644))
}

func (s *slot) read(name string) []byte {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	require.NoError(s.t, err)
	return b
}

func (s *slot) register(off uint32, v uint64) {
	f, err := os.OpenFile(filepath.Join(s.dir, "resource0"), os.O_RDWR, 0)
	require.NoError(s.t, err)
	_, err = f.WriteAt(binary.LittleEndian.AppendUint64(nil, v), int64(off))
	require.NoError(s.t, err)
	require.NoError(s.t, f.Close())
}

func (s *slot) open() (drivers.System, error) {
	return registry.Open(context.Background(), "pcie:"+address+"?root="+s.root, drivers.Options{})
}

func TestRegistersAndWindows(t *testing.T) {
	s := newSlot(t)
	sys, err := s.open()
	require.NoError(t, err)
	require.Equal(t, "1", string(s.read("enable")[:1]), "it was off")
	dev := sys.Device(0)
	require.ErrorIs(t, drivers.Require(sys, drivers.CanDMA), drivers.ErrNotSupported)
	require.NoError(t, dev.WriteReg(regs.Scratch, 0xcafe))
	v, err := dev.ReadReg(regs.Scratch)
	require.NoError(t, err)
	require.EqualValues(t, 0xcafe, v)
	require.EqualValues(t, 0xcafe, binary.LittleEndian.Uint64(s.read("resource0")[regs.Scratch:]), "the board has it")

	require.NoError(t, dev.WritePIO(0x40, []byte("nine bytes")))
	require.Equal(t, "nine bytes\x00\x00\x00\x00\x00\x00", string(s.read("resource2")[0x40:0x50]))
	var bus *drivers.BusError
	require.ErrorAs(t, dev.WritePIO(1<<16, []byte("x")), &bus)
	require.ErrorIs(t, dev.WritePIO(4, []byte("x")), drivers.ErrConfig)
	require.ErrorAs(t, dev.WriteReg(registerEnd, 1), &bus)
	_, err = dev.ReadReg(registerEnd)
	require.ErrorAs(t, err, &bus)

	// All ones: a register's own, a refused read, a board that has died.
	s.register(regs.Scratch, ^uint64(0))
	v, err = dev.ReadReg(regs.Scratch)
	require.NoError(t, err)
	require.Equal(t, ^uint64(0), v)
	s.register(0xff8, ^uint64(0))
	_, err = dev.ReadReg(0xff8)
	require.ErrorAs(t, err, &bus)
	s.register(regs.Magic, ^uint64(0))
	_, err = dev.ReadReg(regs.Scratch)
	require.ErrorIs(t, err, drivers.ErrPeerDied)

	require.NoError(t, sys.Close())
	require.Equal(t, "0", string(s.read("enable")[:1]), "as it was found")
	_, err = dev.ReadReg(regs.Scratch)
	require.ErrorIs(t, err, drivers.ErrClosed)
	require.ErrorIs(t, dev.WritePIO(0, nil), drivers.ErrClosed)
	require.NoError(t, sys.Close())
}

// What is not ours is refused, and left as it was found.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *slot)
		is     error
		want   string
	}{
		{"dead", func(s *slot) { s.register(regs.Magic, ^uint64(0)) }, drivers.ErrPeerDied, "all bits of MAGIC read as one"},
		{"foreign", func(s *slot) { s.register(regs.Magic, 7) }, drivers.ErrProtocol, "expected a nicloop NIC"},
		{"other release", func(s *slot) { s.register(regs.DescHash, 7) }, drivers.ErrProtocol, "in DESC_HASH, found 0x0000000000000007"},
		{"held", func(s *slot) { require.NoError(s.t, os.Symlink("../drivers/e1000e", filepath.Join(s.dir, "driver"))) }, drivers.ErrEnvironment, "the driver e1000e is bound to " + address},
		{"small", func(s *slot) { s.file("resource0", make([]byte, 4096)) }, drivers.ErrConfig, "resource0 has 4096 bytes: expected 524288"},
		{"no windows", func(s *slot) { require.NoError(s.t, os.Remove(filepath.Join(s.dir, "resource2"))) }, drivers.ErrEnvironment, "resource2"},
		{"nothing", func(s *slot) { require.NoError(s.t, os.RemoveAll(s.dir)) }, drivers.ErrEnvironment, "nicloop device scan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSlot(t)
			c.change(s)
			_, err := s.open()
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
			if c.name != "nothing" {
				require.Equal(t, "0", string(s.read("enable")[:1]))
			}
		})
	}
	_, err := registry.Open(context.Background(), "pcie:", drivers.Options{})
	require.ErrorContains(t, err, "as in pcie:0000:03:00.0")
	_, err = registry.Open(context.Background(), "pcie:"+address, drivers.Options{Nodes: 2})
	require.ErrorIs(t, err, drivers.ErrConfig)
}

// Two NICs behind one function: each has its share of the BARs, COMMAND and switch are those of
// both.
func TestTwoNICs(t *testing.T) {
	s := newSlot(t)
	s.file("resource0", make([]byte, 2*nicStride))
	s.file("resource2", make([]byte, 2*windowBytes*2))
	for nic := range uint32(2) {
		s.register(nic*nicStride+regs.Magic, regs.MagicValue)
		s.register(nic*nicStride+regs.DescHash, regs.DescHashValue)
	}
	sys, err := registry.Open(context.Background(), "pcie:"+address+"?nics=2&root="+s.root, drivers.Options{})
	require.NoError(t, err)
	require.Equal(t, 2, sys.Info().Nodes)
	require.Equal(t, 2, sys.Info().VPIDs, "windows of 64 MB each")
	for nic := range 2 {
		require.NoError(t, sys.Device(nic).WriteReg(regs.Scratch, 0xcafe+uint64(nic)))
		require.NoError(t, sys.Device(nic).WritePIO(0x40, []byte{'a' + byte(nic)}))
		require.EqualValues(t, 0xcafe+nic, binary.LittleEndian.Uint64(s.read("resource0")[uint32(nic*nicStride)+regs.Scratch:]))
		require.Equal(t, byte('a'+nic), s.read("resource2")[nic*2*windowBytes+0x40])
	}
	var bus *drivers.BusError
	require.ErrorAs(t, sys.Device(0).WritePIO(2*windowBytes, []byte("x")), &bus, "that is the other's window")
	require.NoError(t, sys.Close())
	require.Equal(t, "0", string(s.read("enable")[:1]), "as it was found")
	require.NoError(t, sys.Close())

	_, err = registry.Open(context.Background(), "pcie:"+address+"?nics=3&root="+s.root, drivers.Options{})
	require.ErrorContains(t, err, "nics=3: expected 1 to 2")
	s.file("resource0", make([]byte, nicStride))
	_, err = registry.Open(context.Background(), "pcie:"+address+"?nics=2&root="+s.root, drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrConfig, "a bitstream with one NIC")
	require.Equal(t, "0", string(s.read("enable")[:1]))
}

// DMA is enabled when the last NIC has been reset, and a share of memory has the segments that it
// lies in.
func TestParts(t *testing.T) {
	w := &fakeWay{}
	list := parts(w, 2)
	for i, p := range list {
		require.NoError(t, p.begin())
		require.NoError(t, p.command(0, commandBusMaster))
		require.NoError(t, p.command(commandMemory|commandBusMaster, 0))
		require.Equal(t, i == 1, w.is&commandBusMaster != 0, "NIC %d", i)
	}
	m := memory{bytes: make([]byte, 4*largePage), segments: []drivers.Segment{
		{Off: 0, Addr: 0x1000000, Bytes: 3 * largePage}, {Off: 3 * largePage, Addr: 0x9000000, Bytes: largePage},
	}}
	second := m.share(2*largePage, 2*largePage)
	require.Equal(t, []drivers.Segment{
		{Off: 0, Addr: 0x1000000 + 2*largePage, Bytes: largePage}, {Off: largePage, Addr: 0x9000000, Bytes: largePage},
	}, second.segments)
	require.NoError(t, second.free())
	require.Len(t, second.bytes, 2*largePage)
	require.NoError(t, list[0].close())
	require.False(t, w.closed)
	require.NoError(t, list[1].close())
	require.True(t, w.closed)
}

type fakeWay struct {
	way
	is     uint16
	closed bool
}

func (w *fakeWay) begin() error { return nil }
func (w *fakeWay) command(set, clear uint16) error {
	w.is = w.is&^clear | set
	return nil
}
func (w *fakeWay) close() error {
	w.closed = true
	return nil
}
