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

// Kind says what a frame is.
type Kind byte

// Frames of a client. Those that ask are answered in order, by Value or Failed; the others are posted.
const (
	Claim    Kind = 'c' // Data is a ClaimText; asks, and comes first
	ReadReg  Kind = 'r' // A is the offset; asks
	WriteReg Kind = 'w' // A is the offset, B the value
	WritePIO Kind = 'p' // A is the offset, Data the line
	Await    Kind = 'a' // A and B are offset in the client's memory and bytes; asks for a number
	Again    Kind = 'g' // A is the number: of this, one more Hit may come
	Unawait  Kind = 'u' // A is the number
	Map      Kind = 'm' // A and B are offset in the client's memory and bytes, VPID the owner, Flag the rights; asks for an address
	Unmap    Kind = 'n' // A is the address; asks
	Forget   Kind = 'f' // VPID's pages; asks
)

// Frames of the broker.
const (
	Welcome Kind = 'W' // the answer to Claim: Data is a WelcomeText, and a file comes for each piece
	Value   Kind = 'V' // B is the answer
	Failed  Kind = 'E' // the answer is an error: Data is an ErrorText
	Hit     Kind = 'H' // A is the number of an Await
	Over    Kind = 'X' // the broker ends it: Data is an ErrorText
)

// A Frame is 24 bytes, little endian, and Data behind them: kind, flag, node and VPID, a byte each, length of Data (32 bits), A, B.
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
	// MaxLine is the longest Data of WritePIO, maxText that of a text.
	MaxLine = 64
	maxText = 1 << 16
)

// most is how long Data may be.
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

// decodeHeader reads all but Data, whose length it gives.
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
	patient time.Duration // for the other end to take a frame; 0: for ever
	in      [headerBytes]byte

	mu  sync.Mutex // of out, and the order of frames
	out []byte
}

// New makes a Conn whose other end may take so long to read a frame.
func New(c *net.UnixConn, patience time.Duration) *Conn { return &Conn{c: c, patient: patience} }

// Send sends a frame.
func (c *Conn) Send(f *Frame) error { return c.SendFiles(f, nil) }

// SendFiles sends a frame, and files with it.
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

// Receive takes the next frame. io.EOF: the other end is gone.
func (c *Conn) Receive() (Frame, error) {
	if _, err := io.ReadFull(c.c, c.in[:]); err != nil {
		return Frame{}, err
	}
	return c.rest()
}

// rest takes Data.
func (c *Conn) rest() (Frame, error) {
	f, n, err := decodeHeader(&c.in)
	if err != nil || n == 0 {
		return f, err
	}
	f.Data = make([]byte, n)
	_, err = io.ReadFull(c.c, f.Data)
	return f, err
}

// mostFiles come with a frame.
const mostFiles = 64

// ReceiveFiles takes the next frame and the files that come with it. They are the caller's, also if there is an error.
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

// SetReadDeadline bounds Receive.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.c.SetReadDeadline(t) }

// Close hangs up.
func (c *Conn) Close() error { return c.c.Close() }

// Gone tells whether an error means that the other end is gone.
func Gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
