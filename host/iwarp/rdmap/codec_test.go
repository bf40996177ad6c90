package rdmap

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// TestControl: RFC 5040, sections 4.1 and 4.3: version, opcode, buffer model and queue number.
func TestControl(t *testing.T) {
	for o := Opcode(0); o < 16; o++ {
		tagged := o == Write || o == ReadResponse
		h := ddp.Header{Tagged: tagged, Control: 0x40 | uint8(o), QN: o.queue()}
		got, err := ParseControl(h)
		if o >= numberOfOpcodes {
			if !errors.Is(err, term.UnexpectedOpcode) {
				t.Errorf("opcode %#x: %v", o, err)
			}
			continue
		}
		if got != o || err != nil || Control(o) != h.Control {
			t.Errorf("%v: %v, %v", o, got, err)
		}
		h.Tagged = !tagged
		if _, err := ParseControl(h); !errors.Is(err, term.UnexpectedOpcode) {
			t.Errorf("%v in the wrong buffer model: %v", o, err)
		}
		h.Tagged, h.QN = tagged, h.QN+1
		if _, err := ParseControl(h); !tagged && !errors.Is(err, term.UntaggedInvalidQN) {
			t.Errorf("%v on queue %d: %v", o, h.QN, err)
		}
		h.QN--
		for _, version := range []uint8{0x00, 0x80, 0xc0} {
			h.Control = version | uint8(o)
			if _, err := ParseControl(h); !errors.Is(err, term.InvalidVersion) {
				t.Errorf("control %#x: %v", h.Control, err)
			}
		}
	}
}

// TestReadBytes: RFC 5040, section 4.4; the bytes were composed by hand.
func TestReadBytes(t *testing.T) {
	r := Read{SinkSTag: 1, SinkTO: 2, Length: 3, SourceSTag: 4, SourceTO: 5}
	const want = "00000001" + "0000000000000002" + "00000003" + "00000004" + "0000000000000005"
	b := r.Append(nil)
	if hex.EncodeToString(b) != want {
		t.Errorf("%x, expected %s", b, want)
	}
	if got, err := ParseRead(b); got != r || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ParseRead(b[:27]); err == nil {
		t.Error("27 bytes were accepted")
	}
}

// TestReportBytes: RFC 5040, section 4.8. The messages of siw are those that its driver sent for a
// wrong CRC, MSN, queue number, STag and range.
func TestReportBytes(t *testing.T) {
	header := (&ddp.Header{Last: true, Control: 0x41, QN: 1, MSN: 9}).Append(nil)
	tagged := (&ddp.Header{Tagged: true, Control: 0x40, STag: 1, TO: 2}).Append(nil)
	request := (&Read{Length: 4}).Append(nil)
	for _, c := range []struct {
		r    Report
		want string
	}{
		{Report{Code: term.CRCMismatch}, "20020000"},
		{Report{Code: term.UntaggedMSNRange, HasLength: true, Length: 30, Header: header},
			"1203c000" + "001e" + hex.EncodeToString(header)},
		{Report{Code: term.TaggedBaseBounds, HasLength: true, Length: 14, Header: tagged},
			"1101c000" + "000e" + hex.EncodeToString(tagged)},
		{Report{Code: term.InvalidSTag, HasLength: true, Length: 46, Header: header, ReadRequest: request},
			"0100e000" + "002e" + hex.EncodeToString(header) + hex.EncodeToString(request)},
	} {
		b := c.r.Append(nil)
		if hex.EncodeToString(b) != c.want {
			t.Errorf("%v: %x, expected %s", c.r.Code, b, c.want)
		}
		got, err := ParseReport(b)
		if err != nil || got.Code != c.r.Code || got.Length != c.r.Length || got.Swapped ||
			!bytes.Equal(got.Header, c.r.Header) || !bytes.Equal(got.ReadRequest, c.r.ReadRequest) {
			t.Errorf("%x: %+v, %v", b, got, err)
		}
		for n := range b {
			if n > 6 || n < 4 {
				if _, err := ParseReport(b[:n]); err == nil && n != 6 {
					t.Errorf("%x: %d bytes were accepted", b, n)
				}
			}
		}
	}
	for bytesOfSIW, want := range map[string]term.Code{
		"02020000": term.CRCMismatch,
		"21030300" + "001e" + hex.EncodeToString(header): term.UntaggedMSNRange,
		"21010300" + "001e" + hex.EncodeToString(header): term.UntaggedInvalidQN,
		"11000300" + "000e" + hex.EncodeToString(tagged): term.TaggedInvalidSTag,
		"11010300" + "000e" + hex.EncodeToString(tagged): term.TaggedBaseBounds,
	} {
		b, _ := hex.DecodeString(bytesOfSIW)
		got, err := ParseReport(b)
		if err != nil || got.Code != want || !got.Swapped || got.HasLength != (len(b) > 4) ||
			len(b) > 4 && !bytes.Equal(got.Header, b[6:]) {
			t.Errorf("siw's %s: %+v, %v, expected %v", bytesOfSIW, got, err, want)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte("\x12\x03\xc0\x00\x00\x12" + "\x41\x43abcdefghijklmnop"))
	f.Add([]byte("\x21\x03\x03\x00\x00\x12" + "\x41\x43abcdefghijklmnop"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseReport(b)
		if err != nil {
			return
		}
		again, err := ParseReport(r.Append(nil))
		if err != nil || again.Code != r.Code && !again.Swapped || !bytes.Equal(again.Header, r.Header) {
			t.Fatalf("%x: %+v, encoded and decoded again %+v, %v", b, r, again, err)
		}
	})
}
