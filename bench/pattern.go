package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
)

// fill generates the bytes of message k from rank s to rank d.
func fill(b []byte, seed int64, s, d, k int) {
	x := pattern(seed, s, d, k)
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, mix(&x))
	}
	for last := mix(&x); len(b) > 0; b, last = b[1:], last>>8 {
		b[0] = byte(last)
	}
}

func pattern(seed int64, s, d, k int) uint64 {
	return uint64(seed)*0x9e3779b97f4a7c15 ^ uint64(s)<<40 ^ uint64(d)<<20 ^ uint64(k)
}

// mix is a step of splitmix64.
func mix(x *uint64) uint64 {
	*x += 0x9e3779b97f4a7c15
	z := *x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// A MismatchError reports that received bytes differ from the sent ones.
type MismatchError struct {
	From, To, Message int
	Offset            int
	Got, Want         byte
	Seed              int64
	// Cycle is the cycle in which the receiver noticed it, if known: a position in waves and
	// captures.
	Cycle drivers.Cycle
	Bytes int // of the message
}

func (e *MismatchError) Error() string {
	text := fmt.Sprintf("message %d from rank %d to rank %d: byte %d is 0x%02x, expected 0x%02x (seed %d)",
		e.Message, e.From, e.To, e.Offset, e.Got, e.Want, e.Seed)
	if e.Bytes <= host.EagerMax {
		text += fmt.Sprintf("; byte %d of packet %d of %d", (e.Offset+host.HeaderBytes)%regs.VELOPayload, (e.Offset+host.HeaderBytes)/regs.VELOPayload+1, host.Packets(e.Bytes))
	}
	if e.Cycle > 0 {
		text += fmt.Sprintf("; noticed at cycle %d", e.Cycle)
	}
	return text
}

// verify compares b with the output of fill.
func verify(b []byte, seed int64, s, d, k int) error {
	if matches(b, seed, s, d, k) {
		return nil
	}
	x := pattern(seed, s, d, k)
	for rest := b; len(rest) > 0; {
		n, want := min(8, len(rest)), mix(&x)
		if n < 8 || binary.LittleEndian.Uint64(rest) != want {
			for j, got := range rest[:n] {
				if w := byte(want >> (8 * j)); got != w {
					return &MismatchError{From: s, To: d, Message: k, Offset: len(b) - len(rest) + j, Got: got, Want: w, Seed: seed, Bytes: len(b)}
				}
			}
		}
		rest = rest[n:]
	}
	return nil
}

// recall regenerates the messages of the current and the next iteration, of which some arrive
// early.
type recall struct {
	seed int64
	self int
	k    int
}

func (x *recall) Name(from int, b []byte) (name int32, ok bool) {
	for k := x.k; k <= x.k+1; k++ {
		if matches(b, x.seed, from, x.self, k) {
			return int32(k), true
		}
	}
	return 0, false
}

func (x *recall) Write(from int, name int32, b []byte) { fill(b, x.seed, from, x.self, int(name)) }

// matches reports whether b equals the output of fill.
func matches(b []byte, seed int64, s, d, k int) bool {
	x := pattern(seed, s, d, k)
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) != mix(&x) {
			return false
		}
	}
	for last := mix(&x); len(b) > 0; b, last = b[1:], last>>8 {
		if b[0] != byte(last) {
			return false
		}
	}
	return true
}

// Fill and Verify generate and check the bytes of message k from rank s to rank d, for other
// packages.
func Fill(b []byte, seed int64, s, d, k int)         { fill(b, seed, s, d, k) }
func Verify(b []byte, seed int64, s, d, k int) error { return verify(b, seed, s, d, k) }
