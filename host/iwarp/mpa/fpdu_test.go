package mpa

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

// TestFPDUBytes: RFC 5044, sections 4.1 and 4.4. The CRC of 32 zero bytes that RFC 3720, appendix
// B.4 gives as aa 36 91 8a fixes polynomial, reflection and byte order.
func TestFPDUBytes(t *testing.T) {
	s := Sender{CRC: true}
	b := s.Append(nil, nil, make([]byte, 30)) // its length field is not zero
	if len(b) != 36 || b[1] != 30 {
		t.Fatalf("%x", b)
	}
	clear(b[:2])
	sum := crc32.Checksum(b[:32], castagnoli)
	if got := []byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)}; hex.EncodeToString(got) != "aa36918a" {
		t.Errorf("CRC of 32 zero bytes: %x", got)
	}
	for _, c := range []struct {
		payload string
		want    string
	}{
		{"", "0000" + "0000" + "00000000"},
		{"a", "0001" + "61" + "00" + "00000000"},
		{"ab", "0002" + "6162" + "00000000"},
		{"abc", "0003" + "616263" + "000000" + "00000000"},
	} {
		s := Sender{}
		if got := hex.EncodeToString(s.Append(nil, nil, []byte(c.payload))); got != c.want {
			t.Errorf("%q: %s, expected %s", c.payload, got, c.want)
		}
	}
}

// reference frames a list of ULPDUs byte by byte, as RFC 5044, section 4 describes it.
func reference(list [][]byte, markers, crc bool) []byte {
	var out []byte
	for _, u := range list {
		begin, field := len(out), -1
		put := func(c byte) {
			if markers && len(out)%512 == 0 {
				d := 0
				if field >= 0 {
					d = len(out) - field
				}
				out = append(out, 0, 0, byte(d>>8), byte(d))
			}
			if field < 0 {
				field = len(out)
			}
			out = append(out, c)
		}
		put(byte(len(u) >> 8))
		put(byte(len(u)))
		for _, c := range u {
			put(c)
		}
		for n := 2 + len(u); n%4 != 0; n++ {
			put(0)
		}
		// The first byte of the CRC may need a marker in front, which the CRC covers.
		put(0)
		out = out[:len(out)-1]
		var sum uint32
		if crc {
			sum = crc32.Checksum(out[begin:], castagnoli)
		}
		for i := range 4 {
			put(byte(sum >> (8 * i)))
		}
	}
	return out
}

func randomULPDUs(r *rand.Rand, n int) [][]byte {
	var list [][]byte
	for range n {
		size := r.IntN(40)
		switch r.IntN(4) {
		case 0:
			size = 490 + r.IntN(30)
		case 1:
			size = r.IntN(3000)
		}
		u := make([]byte, size)
		for i := range u {
			u[i] = byte(r.Uint32())
		}
		list = append(list, u)
	}
	return list
}

// TestStream sends random ULPDUs with all combinations of markers and CRC, compares the stream with
// the reference, and receives it in pieces.
func TestStream(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		markers, crc := seed&1 != 0, seed&2 != 0
		list := randomULPDUs(r, 60)
		s := Sender{Markers: markers, CRC: crc}
		var stream []byte
		for _, u := range list {
			cut := r.IntN(len(u) + 1)
			stream = s.Append(stream, u[:cut], u[cut:])
		}
		if want := reference(list, markers, crc); !bytes.Equal(stream, want) {
			t.Fatalf("seed %d, markers %t, CRC %t: the stream differs from the reference", seed, markers, crc)
		}
		receiver := Receiver{Markers: markers, CRC: crc}
		begin, end := 0, 0
		for i := 0; i < len(list); {
			u, used, err := receiver.Next(stream[begin:end])
			if err != nil {
				t.Fatalf("seed %d: ULPDU %d: %v", seed, i, err)
			}
			if used == 0 {
				if end == len(stream) {
					t.Fatalf("seed %d: ULPDU %d is incomplete at the end of the stream", seed, i)
				}
				end = min(len(stream), end+1+r.IntN(700))
				continue
			}
			if !bytes.Equal(u, list[i]) {
				t.Fatalf("seed %d: ULPDU %d of %d bytes differs", seed, i, len(list[i]))
			}
			begin += used
			i++
		}
		if begin != len(stream) || receiver.Close(0) != nil {
			t.Errorf("seed %d: %d of %d bytes used", seed, begin, len(stream))
		}
	}
}

func TestLongestULPDU(t *testing.T) {
	for _, markers := range []bool{false, true} {
		s, r := Sender{Markers: markers, CRC: true}, Receiver{Markers: markers, CRC: true}
		b := s.Append(nil, nil, make([]byte, MaxULPDU))
		u, used, err := r.Next(b)
		if err != nil || used != len(b) || len(u) != MaxULPDU || used > MaxFPDU {
			t.Errorf("markers %t: %d of %d bytes, %d bytes of ULPDU, %v", markers, used, len(b), len(u), err)
		}
	}
}

// TestReceiverErrors: RFC 5044, section 8.
func TestReceiverErrors(t *testing.T) {
	for _, markers := range []bool{false, true} {
		s := Sender{Markers: markers, CRC: true}
		good := s.Append(nil, nil, make([]byte, 600))
		for at := range good {
			b := bytes.Clone(good)
			b[at] ^= 0x10
			r := Receiver{Markers: markers, CRC: true}
			u, used, err := r.Next(b)
			if err == nil && used > 0 {
				t.Fatalf("markers %t: a flipped bit in byte %d of %d was accepted: %d bytes", markers, at, len(b), len(u))
			}
			isMarker := markers && (at%512 == 2 || at%512 == 3)
			if isMarker && !errors.Is(err, term.MarkerMismatch) {
				t.Errorf("byte %d of a marker: %v", at, err)
			}
			if !markers && at >= 2 && !errors.Is(err, term.CRCMismatch) {
				t.Errorf("byte %d: %v", at, err)
			}
			if err == nil {
				continue
			}
			if _, _, again := r.Next(good); !errors.Is(again, err) {
				t.Errorf("byte %d: the error %v is not final: %v", at, err, again)
			}
		}
	}
	r := Receiver{Markers: true}
	if _, _, err := r.Next([]byte{0, 0, 0, 0, 0xff, 0xff}); !errors.Is(err, term.MarkerMismatch) {
		t.Errorf("a ULPDU longer than a marker can describe: %v", err)
	}
	r = Receiver{}
	if err := r.Close(3); !errors.Is(err, term.StreamLost) {
		t.Errorf("end of the stream within an FPDU: %v", err)
	}
}

// TestEarlyMarkerCheck: a wrong length must be detected at the next marker, not after 64 KB.
func TestEarlyMarkerCheck(t *testing.T) {
	s := Sender{Markers: true}
	b := s.Append(nil, nil, make([]byte, 100))
	for range 20 {
		b = s.Append(b, nil, make([]byte, 100))
	}
	b[4] = 0x40 // length 0x4064 instead of 0x0064
	r := Receiver{Markers: true}
	if _, _, err := r.Next(b[:600]); !errors.Is(err, term.MarkerMismatch) {
		t.Errorf("600 bytes with a wrong length: %v", err)
	}
}

// TestULPDULimit checks that the longest ULPDU fits into a segment wherever the stream stands, and
// that a longer one does not.
func TestULPDULimit(t *testing.T) {
	for _, emss := range []int{536, 1448, 1460, 8948, 65000} {
		for _, markers := range []bool{false, true} {
			n := ULPDULimit(emss, markers)
			for position := 0; position < 512; position += 4 {
				s := Sender{Markers: markers, position: position}
				if got := len(s.Append(nil, nil, make([]byte, n))); got > emss {
					t.Fatalf("EMSS %d, markers %t, position %d: FPDU of %d bytes", emss, markers, position, got)
				}
			}
			s := Sender{Markers: markers}
			if got := len(s.Append(nil, nil, make([]byte, n+5))); got <= emss && n < MaxULPDU {
				t.Errorf("EMSS %d, markers %t: %d bytes would fit, too", emss, markers, n+5)
			}
		}
	}
	if ULPDULimit(5, false) != 0 {
		t.Error("a segment of 5 bytes holds no FPDU")
	}
}

func TestNoAllocations(t *testing.T) {
	payload, header := make([]byte, 4000), make([]byte, 18)
	for _, markers := range []bool{false, true} {
		s, r := Sender{Markers: markers, CRC: true}, Receiver{Markers: markers, CRC: true}
		buffer := make([]byte, 0, 8192)
		run := func() {
			buffer = s.Append(buffer[:0], header, payload)
			if _, used, err := r.Next(buffer); used == 0 || err != nil {
				t.Fatal(used, err)
			}
		}
		run() // the first call of a receiver with markers allocates its scratch memory
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("markers %t: %v allocations per FPDU", markers, n)
		}
	}
}

func FuzzReceiver(f *testing.F) {
	for i := range uint64(4) {
		s := Sender{Markers: i&1 != 0, CRC: i&2 != 0}
		var b []byte
		for _, u := range randomULPDUs(rand.New(rand.NewPCG(i, 2)), 4) {
			b = s.Append(b, nil, u)
		}
		f.Add(b, i&1 != 0, i&2 != 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, markers, crc bool) {
		whole, pieces := Receiver{Markers: markers, CRC: crc}, Receiver{Markers: markers, CRC: crc}
		for rest := b; ; {
			u, used, err := whole.Next(rest)
			// A receiver that sees a prefix must ask for more or report the same error.
			if used > 0 {
				if v, n, err := pieces.Next(rest[:used-1]); n != 0 || err != nil {
					t.Fatalf("prefix of an FPDU: used %d of %d, %x, %v", n, used, v, err)
				}
				v, n, err := pieces.Next(rest[:used])
				if n != used || err != nil || !bytes.Equal(u, v) {
					t.Fatalf("exact FPDU: used %d of %d, %v", n, used, err)
				}
			}
			if used == 0 || err != nil {
				return
			}
			rest = rest[used:]
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name         string
		markers, crc bool
	}{{"plain", false, false}, {"crc", false, true}, {"markers+crc", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			s, payload := Sender{Markers: c.markers, CRC: c.crc}, make([]byte, 64000)
			buffer := make([]byte, 0, 1<<17)
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				buffer = s.Append(buffer[:0], nil, payload)
			}
		})
	}
}
