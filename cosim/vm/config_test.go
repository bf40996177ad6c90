package vm

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A host sizes BARs by writing ones, and finds capabilities through their list.
func TestConfigSpace(t *testing.T) {
	c := newConfigSpace(nicFunction())
	require.EqualValues(t, 0x4e4c1234, c.read(0, 4))
	for i, want := range []uint64{0xfff00000, 0, 0xe0000008, 0, 0xfffff000, 0} {
		at := uint64(atBARs + 4*i)
		c.write(at, 4, 0xffffffff)
		require.Equal(t, want, c.read(at, 4), "BAR %d", i)
		c.write(at, 4, 0)
	}
	c.write(0x28, 4, 0xffffffff)
	require.Zero(t, c.read(0x28, 4), "the seventh that QEMU sizes is none")
	c.write(0, 4, 0)
	require.EqualValues(t, 0x4e4c1234, c.read(0, 4), "read-only")

	_, _, ok := c.bar(0)
	require.False(t, ok, "no BAR has an address")
	c.write(atBARs, 4, 0xfea00000)
	c.write(atBARs+8, 4, 0xc0000000)
	bar, off, ok := c.bar(0xdffffff8)
	require.True(t, ok)
	require.Equal(t, [2]int{windowBAR, 0x1ffffff8}, [2]int{bar, int(off)})
	_, _, ok = c.bar(0xfeb00000)
	require.False(t, ok)

	var found []uint64
	for at := c.read(0x34, 1); at != 0; at = c.read(at+1, 1) {
		found = append(found, c.read(at, 1))
	}
	require.Equal(t, []uint64{0x11, 0x10}, found)
	require.False(t, c.write(atDevCtl, 2, 0x2810))
	require.True(t, c.write(atDevCtl, 2, 0x2810|functionReset))
	require.EqualValues(t, 0x2810, c.read(atDevCtl, 2))
	require.True(t, c.write(atDevCtl+1, 1, 0x80))
}

// A function without windows has two BARs, and the number of vectors that it asks for.
func TestOtherFunction(t *testing.T) {
	c := newConfigSpace(Function{Vendor: 0x1234, Device: 0xd3a0, Class: 0x020000, Registers: 1 << 16, Vectors: 3})
	require.EqualValues(t, 0xd3a01234, c.read(0, 4))
	require.EqualValues(t, 0x02000000, c.read(8, 4))
	for i, want := range []uint64{0xffff0000, 0, 0, 0, 0xfffff000, 0} {
		at := uint64(atBARs + 4*i)
		c.write(at, 4, 0xffffffff)
		require.Equal(t, want, c.read(at, 4), "BAR %d", i)
	}
	require.EqualValues(t, 2, c.read(atMSIX+2, 2)&0x7ff)
	c.clear()
	require.EqualValues(t, 0xd3a01234, c.read(0, 4))
}

func TestMSIXTable(t *testing.T) {
	m := newMSIXTable(nicFunction().Vectors)
	_, _, ok := m.message(0)
	require.False(t, ok, "masked")
	m.write(0, 4, 0xfee00000)
	m.write(4, 4, 0)
	m.write(8, 8, 0x4041) // data, and unmasked
	address, data, ok := m.message(0)
	require.True(t, ok)
	require.EqualValues(t, 0xfee00000, address)
	require.EqualValues(t, 0x4041, data)
	require.EqualValues(t, 0x4041, m.read(8, 4))
	m.pending = 1
	require.EqualValues(t, 1, m.read(pendingAt, 8))
	m.write(pendingAt, 8, 0)
	require.EqualValues(t, 1, m.read(pendingAt, 8), "read-only")
	m.write(2, 4, 7)
	require.EqualValues(t, 0xfee00000, m.read(0, 4), "whole words alone")
}

// TestSplitter: the output between the marks is passed on, however it is split into writes and
// however similar it is to a mark.
func TestSplitter(t *testing.T) {
	const all = "boot noise\x00@@other begin 0\n\x00@@m1 begin 0\nhello \x00@@m1\x00@@ world\x00@@m1 end 7\nlater"
	for n := 1; n < len(all); n++ {
		var out bytes.Buffer
		s := newSplitter("m1", &out)
		for rest := all; rest != ""; {
			k := min(n, len(rest))
			_, _ = s.Write([]byte(rest[:k]))
			rest = rest[k:]
		}
		require.Equal(t, "hello \x00@@m1\x00@@ world", out.String(), "in pieces of %d", n)
		code, ok := s.code()
		require.True(t, ok)
		require.Equal(t, 7, code)
	}
}

// Output that cannot be part of a mark is not delayed.
func TestSplitterPassesAtOnce(t *testing.T) {
	var out bytes.Buffer
	s := newSplitter("m1", &out)
	_, _ = s.Write([]byte("\x00@@m1 begin 0\nhello\x00@"))
	require.Equal(t, "hello", out.String())
}

// TestArchive: cpio extracts the archive, like Linux.
func TestArchive(t *testing.T) {
	cpio, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("no cpio")
	}
	var b bytes.Buffer
	a := &archive{w: &b}
	a.file("d", folder, nil)
	a.file("d/one", executable, []byte("12345"))
	a.file("d/two", executable, nil)
	require.NoError(t, a.close())
	dir := t.TempDir()
	cmd := exec.Command(cpio, "-idv", "--quiet")
	cmd.Dir, cmd.Stdin = dir, &b
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "d d/one d/two", strings.Join(strings.Fields(string(out)), " "))
	text, err := exec.Command("cat", dir+"/d/one").Output()
	require.NoError(t, err)
	require.Equal(t, "12345", string(text))
}
