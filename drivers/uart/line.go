package uart

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// Bits per byte on the line: start, eight data bits, stop.
const bitsPerByte = 10

// Time-outs and retries.
const (
	tries = 6
	// noisyTries is the limit once the bridge has been found: a damaged answer shows that the
	// bridge is there and allows one more try. With one wrong bit in 3000, 4 of 10 requests for 256
	// bytes fail: all of 6 tries once in 250 requests, all of 24 once in 10^9.
	noisyTries = 24
	// grace is added to the transmission time of an answer: USB adaptors buffer bytes for some
	// milliseconds.
	grace = 40 * time.Millisecond
	// readTimeout is the time-out of tarm/serial, in units of 0.1 s.
	readTimeout = 100 * time.Millisecond
	// gone: this many consecutive reads that return immediately without a byte mean that the port
	// no longer exists.
	gone = 20
)

// A StatusError reports a request that the bridge refused.
type StatusError struct {
	Op      Op
	Address uint64
	Status  Status
}

func (e *StatusError) Error() string {
	what := map[Status]string{StatusUnknown: "does not know the operation", StatusLength: "does not take its length"}[e.Status]
	switch {
	case e.Status == StatusStuck:
		return fmt.Sprintf("%s at 0x%x: the register bridge answers, but not the bus behind it: is the NIC in reset, or without a clock?", e.Op, e.Address)
	case what == "":
		what = fmt.Sprintf("answered with status %d", e.Status)
	}
	return fmt.Sprintf("%s at 0x%x: the register bridge %s; is its bitstream as new as this program?", e.Op, e.Address, what)
}

// A LineError reports a line that gives no valid answer.
type LineError struct {
	Port    string
	Op      Op
	Address uint64
	Tries   int
	// Bytes were received during the tries, with Dropped invalid frames.
	Bytes   uint64
	Dropped uint64
	Why     error // the reason why the last one was invalid; may be nil
}

func (e *LineError) Error() string {
	text := fmt.Sprintf("%s: %s at 0x%x: no answer to %d tries; ", e.Port, e.Op, e.Address, e.Tries)
	switch {
	case e.Bytes == 0:
		return text + "not a byte came: is the board powered, the cable plugged in, and is it this port?"
	case e.Dropped > 0:
		return text + fmt.Sprintf("%d bytes came, %d pieces of them no frame (%v): does the baud rate fit the board's?", e.Bytes, e.Dropped, e.Why)
	}
	return text + fmt.Sprintf("%d bytes came, no frame for us among them: is a console on this port?", e.Bytes)
}

func (e *LineError) Unwrap() error { return drivers.ErrPeerDied }

// A line sends one request at a time to a bridge and receives its answer. It retransmits lost and
// damaged requests with the same sequence number, so that the bridge repeats its answer without
// performing the request again.
type line struct {
	log     *logrus.Logger
	name    string
	port    io.ReadWriteCloser // like tarm/serial: Read returns 0 and io.EOF if its time-out passes without a byte
	perByte time.Duration

	mu   sync.Mutex // serialises requests
	seq  uint8
	sent []byte
	met  bool // the bridge has answered a request

	frames chan Frame // received frames, copied
	ended  chan struct{}
	cause  error // why the reader ended; valid after ended is closed
	close  sync.Once
	shut   chan struct{}

	count struct {
		sync.Mutex
		bytes, dropped, repeats uint64
		why                     error
	}
}

func newLine(name string, p io.ReadWriteCloser, baud int, log *logrus.Logger) *line {
	l := &line{
		name: name, port: p, log: log, perByte: time.Second * bitsPerByte / time.Duration(baud),
		frames: make(chan Frame, 4), ended: make(chan struct{}), shut: make(chan struct{}),
	}
	go l.read()
	return l
}

// read receives bytes until the port disappears or is closed.
func (l *line) read() {
	defer close(l.ended)
	var dec Decoder
	buf := make([]byte, 512)
	for empty := 0; ; {
		began := time.Now()
		n, err := l.port.Read(buf)
		select {
		case <-l.shut:
			l.cause = drivers.ErrClosed
			return
		default:
		}
		if n == 0 && (err == nil || errors.Is(err, io.EOF)) {
			if empty++; time.Since(began) >= readTimeout/2 {
				empty = 0
			}
			if empty < gone {
				continue
			}
			err = io.ErrUnexpectedEOF
		}
		if err != nil && n == 0 {
			l.cause = fmt.Errorf("%w: %s: %w: was it unplugged?", drivers.ErrPeerDied, l.name, err)
			return
		}
		empty = 0
		l.take(&dec, buf[:n])
	}
}

func (l *line) take(dec *Decoder, came []byte) {
	for _, b := range came {
		f, ok := dec.Feed(b)
		if !ok || !f.Answer() {
			continue // an echo of our own request
		}
		f.Data = append([]byte(nil), f.Data...)
		select {
		case l.frames <- f:
		default: // more frames than anybody waits for
		}
	}
	l.count.Lock()
	l.count.bytes += uint64(len(came))
	l.count.dropped, l.count.why = dec.Dropped, dec.Why
	l.count.Unlock()
}

// request sends a request and waits for its answer. words is the length of a read, data that of a
// write.
func (l *line) request(ctx context.Context, op Op, address uint64, words int, data []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	f := Frame{Seq: l.seq, Op: op, Count: uint8(words), Address: address, Data: data}
	if op.writes() {
		f.Count = uint8(len(data) / 8)
	}
	l.sent = AppendFrame(l.sent[:0], &f)
	l.count.Lock()
	bytes, dropped := l.count.bytes, l.count.dropped
	l.count.Unlock()
	// In the worst case all bytes are stuffed. The time-out grows with each try, so that a slow
	// bridge is not flooded with requests.
	wait := grace + l.perByte*time.Duration(2*(len(l.sent)+headerBytes+crcBytes+2+8*words))
	limit, seen := tries, dropped
	for try := 0; try < limit; try++ {
		if try > 0 {
			l.count.Lock()
			l.count.repeats++
			l.count.Unlock()
			logs.Layer(l.log, "uart").WithFields(logrus.Fields{"port": l.name, "address": fmt.Sprintf("0x%x", address), "try": try + 1}).Debug(op.String() + " sent again")
		}
		if _, err := l.port.Write(l.sent); err != nil {
			return nil, l.lost(err)
		}
		got, err := l.await(ctx, &f, wait<<min(try, 3))
		if got != nil || err != nil {
			l.met = l.met || got != nil
			return l.judge(got, &f, err)
		}
		if now := l.damaged(); now > seen && l.met {
			limit, seen = min(limit+1, noisyTries), now
		}
	}
	l.count.Lock()
	defer l.count.Unlock()
	return nil, &LineError{Port: l.name, Op: op, Address: address, Tries: limit, Bytes: l.count.bytes - bytes, Dropped: l.count.dropped - dropped, Why: l.count.why}
}

// damaged returns the number of frames dropped so far.
func (l *line) damaged() uint64 {
	l.count.Lock()
	defer l.count.Unlock()
	return l.count.dropped
}

// lost returns the error of a failed Write: a port that Close has closed was not unplugged.
func (l *line) lost(err error) error {
	select {
	case <-l.shut:
		return drivers.ErrClosed
	default:
		return fmt.Errorf("%w: %s: %w", drivers.ErrPeerDied, l.name, err)
	}
}

// await returns the answer to f if it arrives in time. It ignores answers to earlier requests.
func (l *line) await(ctx context.Context, f *Frame, wait time.Duration) (*Frame, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case got := <-l.frames:
			if got.Seq == f.Seq && got.Op == f.Op|answerBit && got.Address == f.Address {
				return &got, nil
			}
		case <-timer.C:
			return nil, nil
		case <-l.ended:
			return nil, l.cause
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// judge checks an answer.
func (l *line) judge(got, f *Frame, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if s := Status(got.Count); s != StatusOK {
		return nil, &StatusError{Op: f.Op, Address: f.Address, Status: s}
	}
	want := 0
	if f.Op.reads() {
		want = 8 * int(f.Count)
	}
	if len(got.Data) != want {
		return nil, fmt.Errorf("%w: %s: %s at 0x%x: expected %d bytes, found %d", drivers.ErrProtocol, l.name, f.Op, f.Address, want, len(got.Data))
	}
	return got.Data, nil
}

// greeting is the bridge's answer to Hello: "nluart", its version, and the maximum number of words.
const greeting = uint64('n') | 'l'<<8 | 'u'<<16 | 'a'<<24 | 'r'<<32 | 't'<<40 | 1<<48 | MaxWords<<56

// hello identifies the bridge and discards what an earlier program has left on the line.
func (l *line) hello(ctx context.Context) error {
	if _, err := l.port.Write([]byte{flag, flag}); err != nil {
		return l.lost(err)
	}
	got, err := l.request(ctx, Hello, 0, 1, nil)
	if err != nil {
		return err
	}
	if v := binary.LittleEndian.Uint64(got); v != greeting {
		return fmt.Errorf("%w: %s: expected a register bridge that says 0x%016x, found 0x%016x", drivers.ErrProtocol, l.name, greeting, v)
	}
	return nil
}

// Close ends pending requests with drivers.ErrClosed.
func (l *line) Close() error {
	var err error
	l.close.Do(func() {
		close(l.shut)
		<-l.ended // takes at most one time-out of the port; closing the port during a Read would leak the reader
		err = l.port.Close()
	})
	return err
}
