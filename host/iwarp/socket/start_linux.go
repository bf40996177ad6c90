package socket

import (
	"io"
	"net"
	"time"

	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// defaultEMSS is the TCP segment size that FPDUs are fitted to. TCP is free to divide the stream
// differently; longer FPDUs cost fewer CPU cycles on a loopback device.
const defaultEMSS = 60 << 10

// Connect performs the start-up phase of an initiator on a new connection.
func Connect(c *net.TCPConn, o mpa.Options, timeout time.Duration) (iwarp.Attachment, error) {
	request := mpa.Request(o)
	if err := write(c, &request, timeout); err != nil {
		return iwarp.Attachment{}, err
	}
	reply, early, err := read(c, true)
	if err != nil {
		return iwarp.Attachment{}, err
	}
	p, err := mpa.Complete(o, reply)
	if err != nil {
		return iwarp.Attachment{}, err
	}
	return attach(c, p, early)
}

// Accept performs the start-up phase of a responder on an accepted connection. It rejects the
// connection if admit returns an error for the private data of the request.
func Accept(c *net.TCPConn, o mpa.Options, timeout time.Duration, admit func(private []byte) error,
) (iwarp.Attachment, error) {
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return iwarp.Attachment{}, err
	}
	request, early, err := read(c, false)
	if err != nil {
		return iwarp.Attachment{}, err
	}
	reply, p, failure := mpa.Respond(request, o)
	if failure == nil {
		failure = admit(request.Private)
	}
	if failure != nil {
		reply = mpa.Reject(request, nil)
	}
	if err := write(c, &reply, timeout); err != nil {
		return iwarp.Attachment{}, err
	}
	if failure != nil {
		return iwarp.Attachment{}, failure
	}
	return attach(c, p, early)
}

func write(c *net.TCPConn, f *mpa.StartFrame, timeout time.Duration) error {
	b, err := f.Append(nil)
	if err != nil {
		return err
	}
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err = c.Write(b)
	return err
}

// read returns a start-up frame and the bytes behind it: a peer may send its first FPDU at once.
func read(c *net.TCPConn, reply bool) (f mpa.StartFrame, early []byte, err error) {
	b := make([]byte, 0, 4096)
	for {
		f, used, err := mpa.ParseStart(b, reply)
		if err != nil || used > 0 {
			return f, b[used:], err
		}
		n, err := c.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if n == 0 && err == nil || err == io.EOF {
			return f, nil, term.StreamLost
		}
		if err != nil {
			return f, nil, err
		}
	}
}

func attach(c *net.TCPConn, p mpa.Parameters, early []byte) (a iwarp.Attachment, err error) {
	if err := c.SetDeadline(time.Time{}); err != nil {
		return a, err
	}
	if err := c.SetNoDelay(true); err != nil {
		return a, err
	}
	port, err := newStream(c)
	return iwarp.Attachment{
		Stream: port, Parameters: p, MULPDU: mpa.ULPDULimit(defaultEMSS, p.SendMarkers), Early: early,
	}, err
}
