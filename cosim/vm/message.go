package vm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// A command is the type of a message of QEMU's x-pci-proxy-dev.
type command int32

// The commands of QEMU 7.2.
const (
	syncMemory command = iota
	answer
	configWrite
	configRead
	barWrite
	barRead
	setIRQFD
	deviceReset
)

const (
	headerBytes = 16
	maxRegions  = 8
)

// payloadBytes is the payload size of each command.
var payloadBytes = [...]int{syncMemory: 3 * 8 * maxRegions, answer: 8, configWrite: 12, configRead: 12, barWrite: 24, barRead: 24, setIRQFD: 0, deviceReset: 0}

// answered reports whether QEMU waits for a reply.
func (c command) answered() bool {
	return c != syncMemory && c != setIRQFD && c != answer
}

// A region is a piece of the guest's memory in a file.
type region struct {
	guest, bytes uint64
	at           int64
}

// A request is a decoded message. The valid fields depend on the command.
type request struct {
	command command
	address uint64 // in configuration space, or absolute
	value   uint64
	bytes   int
	regions []region
}

// parseHeader returns the command and the payload length.
func parseHeader(b []byte) (command, int, error) {
	c := command(binary.LittleEndian.Uint32(b))
	n := binary.LittleEndian.Uint64(b[8:])
	if c < 0 || int(c) >= len(payloadBytes) || n != uint64(payloadBytes[c]) {
		return 0, 0, fmt.Errorf("%w: a message of kind %d with %d bytes from QEMU", drivers.ErrProtocol, c, n)
	}
	return c, int(n), nil
}

// parse decodes a payload with the given number of descriptors.
func parse(c command, b []byte, files int) (request, error) {
	r := request{command: c}
	word := binary.LittleEndian.Uint64
	switch c {
	case syncMemory:
		if files > maxRegions {
			return r, fmt.Errorf("%w: %d files of memory", drivers.ErrProtocol, files)
		}
		for i := range files {
			r.regions = append(r.regions, region{word(b[8*i:]), word(b[8*(maxRegions+i):]), int64(word(b[8*(2*maxRegions+i):]))})
		}
	case configRead, configWrite:
		r.address, r.value = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
		r.bytes = int(int32(binary.LittleEndian.Uint32(b[8:])))
		if r.bytes < 1 || r.bytes > 4 || r.address+uint64(r.bytes) > configBytes {
			return r, fmt.Errorf("%w: %d bytes of configuration at 0x%x", drivers.ErrProtocol, r.bytes, r.address)
		}
	case barRead, barWrite:
		r.address, r.value, r.bytes = word(b), word(b[8:]), int(binary.LittleEndian.Uint32(b[16:]))
		if n := r.bytes; n != 1 && n != 2 && n != 4 && n != 8 {
			return r, fmt.Errorf("%w: an access of %d bytes at 0x%x", drivers.ErrProtocol, n, r.address)
		}
	}
	return r, nil
}

// receive returns the next request and its files, which the caller closes.
func receive(c *net.UnixConn) (r request, files []*os.File, err error) {
	defer func() {
		if err != nil {
			closeFiles(files)
			files = nil
		}
	}()
	var header [headerBytes]byte
	control := make([]byte, unix.CmsgSpace(4*maxRegions))
	n, m, _, _, err := c.ReadMsgUnix(header[:], control)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return r, nil, err
	}
	if files, err = filesOf(control[:m]); err != nil {
		return r, files, err
	}
	if _, err = io.ReadFull(c, header[n:]); err != nil {
		return r, files, err
	}
	kind, size, err := parseHeader(header[:])
	if err != nil {
		return r, files, err
	}
	payload := make([]byte, size)
	if _, err = io.ReadFull(c, payload); err != nil {
		return r, files, err
	}
	r, err = parse(kind, payload, len(files))
	return r, files, err
}

func filesOf(control []byte) (files []*os.File, err error) {
	list, err := unix.ParseSocketControlMessage(control)
	for _, m := range list {
		fds, e := unix.ParseUnixRights(&m)
		err = errors.Join(err, e)
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "of the guest"))
		}
	}
	return files, err
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// reply answers a request.
func reply(w io.Writer, v uint64) error {
	b := make([]byte, headerBytes, headerBytes+8)
	binary.LittleEndian.PutUint32(b, uint32(answer))
	binary.LittleEndian.PutUint64(b[8:], 8)
	_, err := w.Write(binary.LittleEndian.AppendUint64(b, v))
	return err
}
