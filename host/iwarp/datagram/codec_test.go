package datagram

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

func TestSizes(t *testing.T) {
	if MaxUD != 65485 {
		t.Errorf("longest message of UD: %d, expected 65507 - 18 - 4", MaxUD)
	}
	for _, size := range []int{0, 1, MaxUD} {
		payload := bytes.Repeat([]byte{7}, size)
		b := Seal(append(Append(nil, rdmap.Send, 9, 0), payload...), 0)
		if len(b) != size+22 || len(b) > MaxDatagram {
			t.Errorf("%d bytes in a datagram of %d", size, len(b))
		}
		segment, err := Open(b)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(segment)
		if err != nil || m.Opcode != rdmap.Send || m.MSN != 9 || !bytes.Equal(m.Payload, payload) {
			t.Errorf("%d bytes: %v, MSN %d, %v", size, m.Opcode, m.MSN, err)
		}
	}
}

// TestCorruption: a datagram with any flipped bit must be refused by its CRC.
func TestCorruption(t *testing.T) {
	b := Seal(append(Append(nil, rdmap.SendSEInvalidate, 1, 0x101), "some data"...), 0)
	for i := range len(b) * 8 {
		bad := bytes.Clone(b)
		bad[i/8] ^= 1 << (i % 8)
		if _, err := Open(bad); !errors.Is(err, term.CRCMismatch) {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	for n := range b {
		if _, err := Open(b[:n]); err == nil {
			t.Errorf("%d of %d bytes were accepted", n, len(b))
		}
	}
}

func TestErrorMessage(t *testing.T) {
	b := AppendError(nil, 77, term.UntaggedMessageLarge)
	m, err := Parse(b)
	if err != nil || m.Opcode != rdmap.Terminate || m.MSN != 77 || m.Error != term.UntaggedMessageLarge {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestParseErrors: what chapter 6 excludes has the codes of a connection.
func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct {
		h    ddp.Header
		want error
	}{
		"a segmented message":    {ddp.Header{Control: 0x43}, term.UntaggedInvalidMO},
		"a message offset":       {ddp.Header{Last: true, MO: 1, Control: 0x43}, term.UntaggedInvalidMO},
		"tagged":                 {ddp.Header{Last: true, Tagged: true, Control: 0x40}, term.UnexpectedOpcode},
		"Read Request":           {ddp.Header{Last: true, Control: 0x41, QN: 1}, term.UnexpectedOpcode},
		"RDMAP version":          {ddp.Header{Last: true, Control: 0x83}, term.InvalidVersion},
		"short Immediate Data":   {ddp.Header{Last: true, Control: 0x48}, term.CatastrophicStream},
		"queue of another model": {ddp.Header{Last: true, Control: 0x43, QN: 2}, term.UntaggedInvalidQN},
	} {
		if _, err := Parse(c.h.Append(nil)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add(Append(nil, rdmap.Send, 1, 0))
	f.Add(AppendError(nil, 1, term.CRCMismatch))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := Parse(b); err == nil && m.Opcode.IsSend() {
			again := append(Append(nil, m.Opcode, m.MSN, m.Invalidate), m.Payload...)
			if n, err := Parse(again); err != nil || n.Opcode != m.Opcode || n.MSN != m.MSN {
				t.Fatalf("%x: %+v, %v", b, n, err)
			}
		}
		if open, err := Open(b); err == nil && !bytes.Equal(Seal(bytes.Clone(open), 0), b) {
			t.Fatalf("%x was accepted", b)
		}
	})
}
