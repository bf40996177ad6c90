package mpa

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

func encode(t *testing.T, f StartFrame) []byte {
	t.Helper()
	b, err := f.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The expected bytes were composed by hand from RFC 5044, section 7.1.1, and RFC 6581, section 6.
func TestStartFrameBytes(t *testing.T) {
	const request, reply = "4d504120494420526571204672616d65", "4d504120494420526570204672616d65"
	for _, c := range []struct {
		name string
		f    StartFrame
		want string
	}{
		{"revision 1", StartFrame{Revision: 1, CRC: true, Private: []byte("hi")}, request + "400100026869"},
		{"markers", StartFrame{Revision: 1, Markers: true}, request + "80010000"},
		{"reject", StartFrame{Reply: true, Reject: true, Revision: 1}, reply + "20010000"},
		{"enhanced", StartFrame{Revision: 2, CRC: true, Enhanced: true, IRD: 1, ORD: 1, Private: []byte{7}},
			request + "500200050001000107"},
		{"peer to peer", StartFrame{Reply: true, Revision: 2, Enhanced: true, PeerToPeer: true,
			RTR: RTRSend | RTRWrite | RTRRead, IRD: 0x3fff, ORD: 2}, reply + "10020004ffffc002"},
	} {
		b := encode(t, c.f)
		if hex.EncodeToString(b) != c.want {
			t.Errorf("%s: %x, expected %s", c.name, b, c.want)
		}
		got, used, err := ParseStart(b, c.f.Reply)
		if err != nil || used != len(b) {
			t.Fatalf("%s: %d of %d bytes, %v", c.name, used, len(b), err)
		}
		if string(got.Private) != string(c.f.Private) {
			t.Errorf("%s: private data %q", c.name, got.Private)
		}
		again := encode(t, got)
		if !bytes.Equal(again, b) {
			t.Errorf("%s: decoded and encoded again: %x, expected %x", c.name, again, b)
		}
		for n := range b {
			if _, used, err := ParseStart(b[:n], c.f.Reply); used != 0 || err != nil {
				t.Errorf("%s: %d bytes: used %d, %v; expected to ask for more", c.name, n, used, err)
			}
		}
	}
}

// TestStartFrameErrors: RFC 5044, sections 7.1.1 and 8 (code 4).
func TestStartFrameErrors(t *testing.T) {
	change := func(at int, value byte) []byte {
		b := encode(t, StartFrame{Revision: 1})
		b[at] = value
		return b
	}
	for name, b := range map[string][]byte{
		"wrong key":                  change(3, 'x'),
		"another protocol":           []byte("GET / HTTP/1.1"),
		"revision 0":                 change(17, 0),
		"revision 3":                 change(17, 3),
		"513 bytes of private data":  append(change(18, 2)[:19], 1),
		"enhanced without its words": append(change(17, 2)[:16], 0x10, 2, 0, 3, 0, 0, 0),
	} {
		if _, used, err := ParseStart(b, false); !errors.Is(err, term.InvalidStartFrame) || used != 0 {
			t.Errorf("%s: used %d, error %v", name, used, err)
		}
	}
	reply := encode(t, StartFrame{Reply: true, Revision: 1})
	if _, _, err := ParseStart(reply, false); !errors.Is(err, term.InvalidStartFrame) {
		t.Error("a reply was accepted as a request (RFC 5044, section 7.1.2)")
	}
	long := StartFrame{Revision: 2, Enhanced: true, Private: make([]byte, 509)}
	if _, err := long.Append(nil); !errors.Is(err, term.InvalidStartFrame) {
		t.Error("513 bytes of private data were encoded")
	}
	if f, _, err := ParseStart(change(16, 0x1f), false); err != nil || f.Enhanced {
		t.Errorf("reserved bits of revision 1 must be ignored: %+v, %v", f, err)
	}
}

func negotiate(t *testing.T, a, b Options) (pa, pb Parameters, err error) {
	t.Helper()
	request, _, err := ParseStart(encode(t, Request(a)), false)
	if err != nil {
		t.Fatal(err)
	}
	reply, pb, err := Respond(request, b)
	if err != nil {
		return pa, pb, err
	}
	reply, _, err = ParseStart(encode(t, reply), true)
	if err != nil {
		t.Fatal(err)
	}
	pa, err = Complete(a, reply)
	return pa, pb, err
}

// TestNegotiation: RFC 5044, section 7.1.2, and RFC 6581, sections 9.1, 9.2 and 10.
func TestNegotiation(t *testing.T) {
	all := RTRSend | RTRWrite | RTRRead
	enhanced := func(ird, ord uint16) Options {
		return Options{Revision: 2, Enhanced: true, IRD: ird, ORD: ord, RTR: all}
	}
	peer := enhanced(4, 4)
	peer.PeerToPeer = true
	noReads := enhanced(0, 0)
	for _, c := range []struct {
		name   string
		a, b   Options
		pa, pb Parameters
		err    error
	}{
		{"revision 1", Options{Revision: 1}, Options{Revision: 1},
			Parameters{Revision: 1}, Parameters{Revision: 1}, nil},
		{"CRC of the initiator", Options{Revision: 1, CRC: true}, Options{Revision: 1},
			Parameters{Revision: 1, CRC: true}, Parameters{Revision: 1, CRC: true}, nil},
		{"CRC of the responder", Options{Revision: 1}, Options{Revision: 1, CRC: true},
			Parameters{Revision: 1, CRC: true}, Parameters{Revision: 1, CRC: true}, nil},
		{"markers to the initiator", Options{Revision: 1, Markers: true}, Options{Revision: 1},
			Parameters{Revision: 1, ReceiveMarkers: true}, Parameters{Revision: 1, SendMarkers: true}, nil},
		{"markers to the responder", Options{Revision: 1}, Options{Revision: 1, Markers: true},
			Parameters{Revision: 1, SendMarkers: true}, Parameters{Revision: 1, ReceiveMarkers: true}, nil},
		{"markers are refused", Options{Revision: 1, Markers: true}, Options{Revision: 1, NoMarkers: true},
			Parameters{}, Parameters{}, term.InvalidStartFrame},
		{"fallback to revision 1", enhanced(4, 4), Options{Revision: 1},
			Parameters{Revision: 1, IRD: 4, ORD: 4}, Parameters{Revision: 1}, nil},
		{"reads are limited by the peer", enhanced(8, 8), enhanced(2, 3),
			Parameters{Revision: 2, Enhanced: true, IRD: 8, ORD: 2},
			Parameters{Revision: 2, Enhanced: true, IRD: 2, ORD: 3}, nil},
		{"reads are not negotiated", enhanced(Unlimited, Unlimited), enhanced(2, 3),
			Parameters{Revision: 2, Enhanced: true, IRD: Unlimited, ORD: 2},
			Parameters{Revision: 2, Enhanced: true, IRD: 2, ORD: 3}, nil},
		{"peer to peer", peer, enhanced(4, 4),
			Parameters{Revision: 2, Enhanced: true, IRD: 4, ORD: 4, RTR: RTRWrite},
			Parameters{Revision: 2, Enhanced: true, IRD: 4, ORD: 4, RTR: RTRWrite}, nil},
		{"no common RTR", peer, Options{Revision: 2, Enhanced: true}, Parameters{}, Parameters{},
			term.NoMatchingRTR},
	} {
		pa, pb, err := negotiate(t, c.a, c.b)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, expected %v", c.name, err, c.err)
		}
		pa.Private, pb.Private = nil, nil
		if c.err == nil && (!equal(pa, c.pa) || !equal(pb, c.pb)) {
			t.Errorf("%s:\n initiator %+v, expected %+v\n responder %+v, expected %+v", c.name, pa, c.pa, pb, c.pb)
		}
	}
	onlyRead := peer
	onlyRead.RTR = RTRRead
	if _, _, err := negotiate(t, onlyRead, noReads); !errors.Is(err, term.NoMatchingRTR) {
		t.Errorf("a Read as RTR needs an IRD of the responder: %v", err)
	}
}

func equal(a, b Parameters) bool {
	return a.Revision == b.Revision && a.CRC == b.CRC && a.SendMarkers == b.SendMarkers &&
		a.ReceiveMarkers == b.ReceiveMarkers && a.Enhanced == b.Enhanced && a.IRD == b.IRD &&
		a.ORD == b.ORD && a.RTR == b.RTR
}

func TestCompleteErrors(t *testing.T) {
	o := Options{Revision: 2, Enhanced: true, IRD: 2, ORD: 2}
	for _, c := range []struct {
		name  string
		reply StartFrame
		want  error
	}{
		{"RFC 6581, section 9.1: ORD above our IRD",
			StartFrame{Reply: true, Revision: 2, Enhanced: true, ORD: 3, IRD: 2}, term.InsufficientIRD},
		{"a request instead of a reply", StartFrame{Revision: 2}, term.InvalidStartFrame},
	} {
		if _, err := Complete(o, c.reply); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Complete(Options{Revision: 1}, StartFrame{Reply: true, Revision: 2}); err == nil {
		t.Error("a reply with a higher revision than the request was accepted")
	}
	var rejected *ErrRejected
	_, err := Complete(o, Reject(Request(o), []byte("busy")))
	if !errors.As(err, &rejected) || string(rejected.Private) != "busy" {
		t.Errorf("rejection: %v", err)
	}
}

func FuzzParseStart(f *testing.F) {
	for _, s := range []StartFrame{{Revision: 1}, {Revision: 2, Enhanced: true, IRD: 3, Private: []byte("x")}} {
		b, _ := s.Append(nil)
		f.Add(b, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, reply bool) {
		s, used, err := ParseStart(b, reply)
		if used == 0 || err != nil {
			return
		}
		again, err := s.Append(nil)
		if err != nil || len(again) != used {
			t.Fatalf("%x: decoded %+v, encoded again in %d bytes, %v", b, s, len(again), err)
		}
	})
}
