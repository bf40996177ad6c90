package host

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// A Datatype lists the bytes of a buffer that form a message, and their order. The sender packs
// them, the receiver unpacks them by its own type. As in MPI, only the number of bytes must be
// equal at both ends.
//
// Columns 1 and 2 of a row-major matrix of 3 x 4 elements of 8 bytes are Vector(3, 16, 32), applied
// to the buffer from byte 8 on:
//
//	. x x .    blocks of 16 bytes, one every 32
//	. x x .
//	. x x .
type Datatype struct {
	parts  []part
	bytes  int // of a message
	extent int // length of the buffer up to the end of the last part
	twice  bool
}

type part struct{ offset, length int }

// maxBlocks limits the memory that the blocks of a Vector take.
const maxBlocks = 1 << 22

// Vector returns the type of count blocks of length bytes, one every stride bytes.
func Vector(count, length, stride int) (Datatype, error) {
	if count < 0 || length < 0 || stride < 0 {
		return Datatype{}, fmt.Errorf("%w: vector of %d blocks of %d bytes every %d: expected no negative number", drivers.ErrConfig, count, length, stride)
	}
	if count == 0 || length == 0 {
		return Datatype{}, nil
	}
	// Divide, because products may overflow.
	if count > maxBlocks || length > MaxBytes/count || count > 1 && stride > MaxBytes/(count-1) {
		return Datatype{}, fmt.Errorf("%w: vector of %d blocks of %d bytes every %d: expected at most %d blocks and %d bytes", drivers.ErrConfig, count, length, stride, maxBlocks, MaxBytes)
	}
	lengths, offsets := make([]int, count), make([]int, count)
	for i := range count {
		lengths[i], offsets[i] = length, i*stride
	}
	return Indexed(lengths, offsets)
}

// Indexed returns the type of blocks with the given lengths at the given offsets, in that order.
func Indexed(lengths, offsets []int) (Datatype, error) {
	if len(lengths) != len(offsets) {
		return Datatype{}, fmt.Errorf("%w: %d lengths and %d offsets of blocks: expected one offset each", drivers.ErrConfig, len(lengths), len(offsets))
	}
	var t Datatype
	for i, n := range lengths {
		at := offsets[i]
		if n < 0 || at < 0 || n > MaxBytes || at > MaxBytes {
			return Datatype{}, fmt.Errorf("%w: block %d of %d bytes at offset %d: expected 0 to %d", drivers.ErrConfig, i, n, at, MaxBytes)
		}
		if n == 0 {
			continue
		}
		t.bytes += n
		t.extent = max(t.extent, at+n)
		if k := len(t.parts) - 1; k >= 0 && t.parts[k].offset+t.parts[k].length == at {
			t.parts[k].length += n
			continue
		}
		t.parts = append(t.parts, part{at, n})
	}
	t.twice = overlap(t.parts)
	return t, nil
}

// overlap reports whether two parts have a byte in common.
func overlap(parts []part) bool {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b part) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].offset+sorted[i-1].length > sorted[i].offset {
			return true
		}
	}
	return false
}

// Bytes returns the length of a message, Extent that of the buffer that holds its blocks.
func (t Datatype) Bytes() int  { return t.bytes }
func (t Datatype) Extent() int { return t.extent }

// Pack copies the blocks of buf into message, which has Bytes bytes.
func (t Datatype) Pack(message, buf []byte) {
	for _, p := range t.parts {
		message = message[copy(message, buf[p.offset:][:p.length]):]
	}
}

// Unpack copies message into the blocks of buf. The message may be shorter than Bytes.
func (t Datatype) Unpack(buf, message []byte) {
	for _, p := range t.parts {
		message = message[copy(buf[p.offset:][:p.length], message):]
	}
}

func (t Datatype) check(what string, buf []byte) error {
	if len(buf) < t.extent {
		return fmt.Errorf("%w: %s with a buffer of %d bytes: the extent of its type is %d", drivers.ErrConfig, what, t.extent, len(buf))
	}
	return nil
}

// IsendTyped is Isend of the blocks of buf. They are packed into a buffer of the library, so buf
// may be changed at once.
func (c *Comm) IsendTyped(dst, tag int, buf []byte, t Datatype) (*Request, error) {
	if err := t.check("send", buf); err != nil {
		return nil, err
	}
	message := make([]byte, t.bytes)
	t.Pack(message, buf)
	c.rank.copied(t.bytes)
	return c.Isend(dst, tag, message)
}

// SendTyped is Send of the blocks of buf.
func (c *Comm) SendTyped(dst, tag int, buf []byte, t Datatype) error {
	q, err := c.IsendTyped(dst, tag, buf, t)
	if err == nil {
		_, err = c.rank.waitFor(q)
	}
	return err
}

// IrecvTyped is Irecv into the blocks of buf. They are unpacked when the completion of the request
// is reported.
func (c *Comm) IrecvTyped(source, tag int, buf []byte, t Datatype) (*Request, error) {
	if err := t.check("receive", buf); err != nil {
		return nil, err
	}
	if t.twice {
		return nil, fmt.Errorf("%w: receive with a type whose blocks overlap: expected disjoint blocks", drivers.ErrConfig)
	}
	q, err := c.Irecv(source, tag, make([]byte, t.bytes))
	if err == nil {
		q.typed = &typedBuffer{t, buf}
	}
	return q, err
}

// RecvTyped is Recv into the blocks of buf.
func (c *Comm) RecvTyped(source, tag int, buf []byte, t Datatype) (Status, error) {
	q, err := c.IrecvTyped(source, tag, buf, t)
	if err != nil {
		return Status{}, err
	}
	return c.rank.waitFor(q)
}

// A typedBuffer holds the blocks into which a received message is unpacked.
type typedBuffer struct {
	t   Datatype
	buf []byte
}

// unpack copies the received bytes into the blocks of the request.
func (q *Request) unpack() {
	n := min(int(q.op.Received.Bytes), len(q.op.Buf))
	q.typed.t.Unpack(q.typed.buf, q.op.Buf[:n])
	q.comm.rank.copied(n)
	q.typed = nil
}
