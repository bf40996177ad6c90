package bench

import (
	"encoding/binary"
	"fmt"
)

// fill writes the bytes of message k from rank s to rank d.
func fill(b []byte, seed int64, s, d, k int) {
	x := uint64(seed)*0x9e3779b97f4a7c15 ^ uint64(s)<<40 ^ uint64(d)<<20 ^ uint64(k)
	var word [8]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(word[:], mix(&x))
		copy(b[i:], word[:])
	}
}

// mix is a step of splitmix64.
func mix(x *uint64) uint64 {
	*x += 0x9e3779b97f4a7c15
	z := *x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// A MismatchError: received bytes are not those that were sent.
type MismatchError struct {
	From, To, Message int
	Offset            int
	Got, Want         byte
	Seed              int64
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("message %d from rank %d to rank %d: byte %d is 0x%02x, expected 0x%02x (seed %d)",
		e.Message, e.From, e.To, e.Offset, e.Got, e.Want, e.Seed)
}

// verify compares b with what fill writes.
func verify(b []byte, seed int64, s, d, k int) error {
	var want [8]byte
	x := uint64(seed)*0x9e3779b97f4a7c15 ^ uint64(s)<<40 ^ uint64(d)<<20 ^ uint64(k)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(want[:], mix(&x))
		for j := i; j < min(i+8, len(b)); j++ {
			if b[j] != want[j-i] {
				return &MismatchError{From: s, To: d, Message: k, Offset: j, Got: b[j], Want: want[j-i], Seed: seed}
			}
		}
	}
	return nil
}

// Fill and Verify write and check the bytes of message k from rank s to rank d,
// for programs outside this package.
func Fill(b []byte, seed int64, s, d, k int)         { fill(b, seed, s, d, k) }
func Verify(b []byte, seed int64, s, d, k int) error { return verify(b, seed, s, d, k) }
