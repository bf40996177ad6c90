package vm

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// encode returns a message as sent by QEMU.
func encode(c command, payload ...any) []byte {
	var b bytes.Buffer
	for _, v := range payload {
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, uint32(c)), 0)
	head = binary.LittleEndian.AppendUint32(head[:8], uint32(b.Len()))
	return append(append(head, 0, 0, 0, 0), b.Bytes()...)
}

func TestMessages(t *testing.T) {
	w, err := newWire()
	require.NoError(t, err)
	defer w.ours.Close()
	c, err := net.FileConn(w.other)
	require.NoError(t, err)
	qemu := c.(*net.UnixConn)
	require.NoError(t, w.other.Close())

	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	memory := encode(syncMemory, [8]uint64{0x1000, 0x100000}, [8]uint64{4096, 8192}, [8]int64{0, 0x5000})
	_, _, err = qemu.WriteMsgUnix(memory, unix.UnixRights(int(f.Fd()), int(f.Fd())), nil)
	require.NoError(t, err)
	r, files, err := receive(w.ours)
	require.NoError(t, err)
	require.Len(t, files, 2)
	closeFiles(files)
	require.Equal(t, []region{{0x1000, 4096, 0}, {0x100000, 8192, 0x5000}}, r.regions)

	for _, x := range []struct {
		sent []byte
		want request
	}{
		{encode(configRead, uint32(0x10), uint32(0), int32(4)), request{command: configRead, address: 0x10, bytes: 4}},
		{encode(configWrite, uint32(4), uint32(0x406), int32(2)), request{command: configWrite, address: 4, value: 0x406, bytes: 2}},
		{encode(barRead, uint64(0xfea00008), uint64(0), uint32(8), uint32(1)), request{command: barRead, address: 0xfea00008, bytes: 8}},
		{encode(barWrite, uint64(0xfea00008), uint64(77), uint32(4), uint32(1)), request{command: barWrite, address: 0xfea00008, value: 77, bytes: 4}},
		{encode(deviceReset), request{command: deviceReset}},
		{encode(setIRQFD), request{command: setIRQFD}},
	} {
		for i := range x.sent { // a byte at a time
			_, err = qemu.Write(x.sent[i : i+1])
			require.NoError(t, err)
		}
		r, files, err := receive(w.ours)
		require.NoError(t, err)
		require.Empty(t, files)
		require.Equal(t, x.want, r)
	}
	require.NoError(t, reply(w.ours, 0x1234))
	back := make([]byte, 24)
	_, err = io.ReadFull(qemu, back)
	require.NoError(t, err)
	require.Equal(t, encode(answer, uint64(0x1234)), back)

	require.NoError(t, qemu.Close())
	_, _, err = receive(w.ours)
	require.ErrorIs(t, err, io.EOF)
}

func TestBadMessages(t *testing.T) {
	for _, b := range [][]byte{
		encode(9), encode(-1), encode(configRead, uint32(0)), encode(barRead), encode(deviceReset, uint32(1)),
		encode(configRead, uint32(0xff), uint32(0), int32(2)), encode(configRead, uint32(0), uint32(0), int32(5)), encode(configRead, uint32(0), uint32(0), int32(-1)),
		encode(barRead, uint64(0), uint64(0), uint32(3), uint32(1)), encode(barWrite, uint64(0), uint64(0), uint32(16), uint32(1)),
	} {
		_, err := decode(b)
		require.ErrorIs(t, err, drivers.ErrProtocol, "%x", b)
	}
}

// decode is receive without a socket.
func decode(b []byte) (r request, err error) {
	if len(b) < headerBytes {
		return r, io.ErrUnexpectedEOF
	}
	c, n, err := parseHeader(b)
	if err != nil {
		return r, err
	}
	if len(b) < headerBytes+n {
		return r, io.ErrUnexpectedEOF
	}
	return parse(c, b[headerBytes:headerBytes+n], maxRegions)
}

// For any input, decoded values stay within their limits.
func FuzzMessage(f *testing.F) {
	f.Add(encode(configRead, uint32(0x10), uint32(0), int32(4)))
	f.Add(encode(barWrite, uint64(0xfea00008), uint64(77), uint32(4), uint32(1)))
	f.Add(encode(syncMemory, [8]uint64{0x1000}, [8]uint64{4096}, [8]int64{0}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			return
		}
		s := &server{space: newConfigSpace(nicFunction()), table: newMSIXTable(nicFunction().Vectors)}
		switch r.command {
		case configRead, configWrite:
			s.space.write(r.address, r.bytes, r.value)
			s.space.read(r.address, r.bytes)
		case barRead, barWrite:
			s.table.write(uint32(r.address)%4096, r.bytes, r.value)
			s.table.read(uint32(r.address)%4096, r.bytes)
			s.space.bar(r.address)
		}
	})
}
