package ddp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

// The expected bytes were composed by hand from RFC 5041, sections 4.1 to 4.3.
func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		h    Header
		want string
	}{
		{Header{Tagged: true, Last: true, Control: 0x40, STag: 0x01020304, TO: 0x1112131415161718},
			"c140" + "01020304" + "1112131415161718"},
		{Header{Tagged: true, STag: 1}, "8100" + "00000001" + "0000000000000000"},
		{Header{Control: 0x43, Reserved: 5, QN: 6, MSN: 7, MO: 8},
			"0143" + "00000005" + "00000006" + "00000007" + "00000008"},
		{Header{Last: true, MSN: 0xffffffff}, "4100" + "00000000" + "00000000" + "ffffffff" + "00000000"},
	} {
		b := c.h.Append(nil)
		if hex.EncodeToString(b) != c.want || len(b) != c.h.Bytes() {
			t.Errorf("%+v: %x, expected %s", c.h, b, c.want)
		}
		h, payload, err := Parse(append(b, "data"...))
		if err != nil || h != c.h || string(payload) != "data" {
			t.Errorf("%x: %+v, %q, %v", b, h, payload, err)
		}
		for n := range b {
			if _, _, err := Parse(b[:n]); err == nil {
				t.Errorf("%x: %d bytes were accepted", b, n)
			}
		}
	}
}

// TestVersion: RFC 5041, section 7.2, types 1 and 2. Reserved bits are ignored (section 4.1).
func TestVersion(t *testing.T) {
	for _, c := range []struct {
		control byte
		want    error
	}{
		{0x80, term.TaggedVersion}, {0xc2, term.TaggedVersion}, {0x00, term.UntaggedVersion},
		{0x43, term.UntaggedVersion}, {0xfd, nil}, {0x3d, nil},
	} {
		b := make([]byte, UntaggedBytes)
		b[0] = c.control
		if _, _, err := Parse(b); !errors.Is(err, c.want) {
			t.Errorf("control %#x: %v, expected %v", c.control, err, c.want)
		}
	}
}

func TestSegmenter(t *testing.T) {
	for _, tagged := range []bool{false, true} {
		for _, length := range []int{0, 1, 99, 100, 101, 200, 1001} {
			first := Header{Tagged: tagged, Control: 0x43, MSN: 3, TO: 1 << 40}
			if !tagged {
				first.TO = 0
			}
			s := Segment(first, length, first.Bytes()+100)
			at, count := 0, 0
			for {
				h, from, to, ok := s.Next()
				if !ok {
					break
				}
				if from != at || to-from > 100 || h.Last != (to == length) {
					t.Fatalf("length %d: segment %d to %d, %+v", length, from, to, h)
				}
				if tagged && h.TO != 1<<40+uint64(from) || !tagged && int(h.MO) != from {
					t.Errorf("length %d: offset of %+v, expected %d", length, h, from)
				}
				at, count = to, count+1
			}
			if at != length || count != max(1, (length+99)/100) || s.Pending() {
				t.Errorf("length %d: %d bytes in %d segments", length, at, count)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\xc1\x40abcdefghijklmnop"))
	f.Add([]byte("\x41\x43abcdefghijklmnopqrs"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, payload, err := Parse(b)
		if err != nil {
			return
		}
		again := append(h.Append(nil), payload...)
		again[0] |= b[0] & 0x3c // reserved bits are ignored
		if !bytes.Equal(again, b) {
			t.Fatalf("%x: encoded again %x", b, again)
		}
	})
}
