package fst

import (
	"bytes"
	"encoding/binary"
)

// A cursor reads from a byte slice. Reads beyond the end return zero and set isShort, so a parser
// checks once.
type cursor struct {
	b       []byte
	isShort bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.b, c.isShort = nil, true
		return nil
	}
	head := c.b[:n]
	c.b = c.b[n:]
	return head
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uvarint reads an unsigned LEB128 number.
func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.b, c.isShort = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
}

// varint reads a signed LEB128 number (two's complement, not zigzag).
func (c *cursor) varint() int64 {
	var v int64
	for shift := uint(0); shift < 64; {
		b := c.byte()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			if shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
	c.isShort = true
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// word reads a string that ends with a zero byte.
func (c *cursor) word() string {
	n := bytes.IndexByte(c.b, 0)
	if n < 0 {
		c.b, c.isShort = nil, true
		return ""
	}
	s := string(c.b[:n])
	c.b = c.b[n+1:]
	return s
}
