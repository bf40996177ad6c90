package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// Kind is the kind of a frame.
type Kind byte

// Frames from a client. Requests are answered in order, by Value or Failed; all other frames are
// posted.
const (
	Claim    Kind = 'c' // request, sent first; Data is a ClaimText
	ReadReg  Kind = 'r' // request; A is the offset
	WriteReg Kind = 'w' // A is the offset, B the value
	WritePIO Kind = 'p' // A is the offset, Data the line
	Await    Kind = 'a' // request for a waiter's number; A and B are offset and length in the client's memory
	Again    Kind = 'g' // A is the number of a waiter, for which one more Hit may be sent
	Unawait  Kind = 'u' // A is the number of the waiter to remove
	Map      Kind = 'm' // request for an address; A and B are offset and length in the client's memory, VPID the owner, Flag the rights
	Unmap    Kind = 'n' // request; A is the address
	Forget   Kind = 'f' // request to unmap all pages of VPID
)

// Frames from the broker.
const (
	Welcome Kind = 'W' // answer to Claim; Data is a WelcomeText, with one file per piece
	Value   Kind = 'V' // answer; B is the value
	Failed  Kind = 'E' // the request failed; Data is an ErrorText
	Hit     Kind = 'H' // A is the number of a waiter whose cause has occurred
	Over    Kind = 'X' // the broker ends the connection; Data is an ErrorText
)

// A Frame is encoded as 24 bytes, little endian, followed by Data: kind, flag, node and VPID (one
// byte each), length of Data (32 bits), A, B.
type Frame struct {
	Kind Kind
	Flag uint8
	Node uint8
	VPID uint8
	A, B uint64
	Data []byte
}

const (
	headerBytes = 24
	// MaxLine is the maximum length of Data in WritePIO, maxText that of a text.
	MaxLine = 64
	maxText = 1 << 16
)

// most returns the maximum length of Data.
func (k Kind) most() (n int, known bool) {
	switch k {
	case WritePIO:
		return MaxLine, true
	case Claim, Welcome, Failed, Over:
		return maxText, true
	case ReadReg, WriteReg, Await, Again, Unawait, Map, Unmap, Forget, Value, Hit:
		return 0, true
	}
	return 0, false
}

// Append encodes a frame.
func (f *Frame) Append(b []byte) []byte {
	b = append(b, byte(f.Kind), f.Flag, f.Node, f.VPID)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
	b = binary.LittleEndian.AppendUint64(b, f.A)
	b = binary.LittleEndian.AppendUint64(b, f.B)
	return append(b, f.Data...)
}

// decodeHeader decodes everything except Data, and returns the length of Data.
func decodeHeader(b *[headerBytes]byte) (f Frame, n int, err error) {
	f = Frame{
		Kind: Kind(b[0]), Flag: b[1], Node: b[2], VPID: b[3],
		A: binary.LittleEndian.Uint64(b[8:]), B: binary.LittleEndian.Uint64(b[16:]),
	}
	length := binary.LittleEndian.Uint32(b[4:])
	most, known := f.Kind.most()
	switch {
	case !known:
		return f, 0, fmt.Errorf("%w: a frame of kind 0x%02x is unknown", drivers.ErrProtocol, b[0])
	case uint64(length) > uint64(most):
		return f, 0, fmt.Errorf("%w: a frame of kind %q with %d bytes: expected at most %d", drivers.ErrProtocol, b[0], length, most)
	}
	return f, int(length), nil
}

// A Conn is one end of a connection. Send may be called from many goroutines, Receive from one.
type Conn struct {
	c       *net.UnixConn
	patient time.Duration // how long the peer may take to read a frame; 0: unlimited
	in      [headerBytes]byte

	mu  sync.Mutex // protects out and serialises frames
	out []byte
}

// New returns a Conn whose peer may take up to patience to read a frame.
func New(c *net.UnixConn, patience time.Duration) *Conn { return &Conn{c: c, patient: patience} }

// Send sends a frame.
func (c *Conn) Send(f *Frame) error { return c.SendFiles(f, nil) }

// SendFiles sends a frame together with files.
func (c *Conn) SendFiles(f *Frame, files []*os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.patient > 0 {
		if err := c.c.SetWriteDeadline(time.Now().Add(c.patient)); err != nil {
			return err
		}
	}
	c.out = f.Append(c.out[:0])
	if len(files) == 0 {
		_, err := c.c.Write(c.out)
		return err
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	n, _, err := c.c.WriteMsgUnix(c.out, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(c.out) {
		_, err = c.c.Write(c.out[n:])
	}
	return err
}

// Receive returns the next frame, or io.EOF if the peer has closed the connection.
func (c *Conn) Receive() (Frame, error) {
	if _, err := io.ReadFull(c.c, c.in[:]); err != nil {
		return Frame{}, err
	}
	return c.rest()
}

// rest receives Data of the frame whose header is in c.in.
func (c *Conn) rest() (Frame, error) {
	f, n, err := decodeHeader(&c.in)
	if err != nil || n == 0 {
		return f, err
	}
	f.Data = make([]byte, n)
	_, err = io.ReadFull(c.c, f.Data)
	return f, err
}

// mostFiles is the maximum number of files with one frame.
const mostFiles = 64

// ReceiveFiles returns the next frame and its files, which the caller must close, also after an
// error.
func (c *Conn) ReceiveFiles() (f Frame, files []*os.File, err error) {
	rights := make([]byte, syscall.CmsgSpace(4*mostFiles))
	n, m, _, _, err := c.c.ReadMsgUnix(c.in[:], rights)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return f, nil, err
	}
	files, err = filesOf(rights[:m])
	if err != nil {
		return f, files, err
	}
	if _, err := io.ReadFull(c.c, c.in[n:]); err != nil {
		return f, files, err
	}
	f, err = c.rest()
	return f, files, err
}

func filesOf(rights []byte) (files []*os.File, err error) {
	list, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, os.NewSyscallError("control message", err)
	}
	for i := range list {
		fds, e := syscall.ParseUnixRights(&list[i])
		err = errors.Join(err, e)
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "piece"))
		}
	}
	return files, err
}

// SetReadDeadline sets the deadline of Receive.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.c.SetReadDeadline(t) }

// Close closes the connection.
func (c *Conn) Close() error { return c.c.Close() }

// Gone reports whether an error means that the peer has closed the connection.
func Gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
