package mailbox_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

const slotBytes = regs.SlotBytes

// hardware writes packets into a ring as the completer does.
type hardware struct {
	mem     []byte
	written uint32
}

func (h *hardware) write(t *testing.T, f mailbox.Header, payload []byte, credits uint16) {
	t.Helper()
	at := int(h.written) * slotBytes % len(h.mem)
	h.written++
	f.Seq, f.Length = h.written, uint16(len(payload))
	require.NoError(t, mailbox.WriteSlot(h.mem[at:at+slotBytes], f, payload, credits))
}

func TestRing(t *testing.T) {
	const slots = 3 // not a power of two
	h := &hardware{mem: make([]byte, slots*slotBytes)}
	r, err := mailbox.NewRing(h.mem, slots)
	require.NoError(t, err)
	_, ok := r.Peek()
	require.False(t, ok, "an empty mailbox")

	for i := range 20 {
		payload := bytes.Repeat([]byte{byte(i)}, i%55)
		h.write(t, mailbox.Header{SrcNode: 4095, SrcVPID: 15, Piggyback: i%2 == 0}, payload, uint16(1000+i))
		h.write(t, mailbox.Header{Kind: mailbox.Credit}, []byte{byte(i), 1}, 0)
		s, ok := r.Peek()
		require.True(t, ok)
		require.NoError(t, s.Err)
		require.Equal(t, payload, append([]byte{}, s.Payload...))
		require.Equal(t, uint16(4095), s.SrcNode)
		if i%2 == 0 {
			require.Equal(t, uint16(1000+i), s.Credits)
		} else {
			require.Zero(t, s.Credits)
		}
		r.Advance()
		s, ok = r.Peek()
		require.True(t, ok)
		require.Equal(t, mailbox.Credit, s.Kind)
		require.Equal(t, uint16(256+i), s.Credits)
		r.Advance()
		_, ok = r.Peek()
		require.False(t, ok, "the slot in front holds an older packet")
		require.Equal(t, uint32(2*i+2), r.Consumed())
	}
}

// The header is written last: a payload alone is no packet.
func TestRingWaitsForTheHeader(t *testing.T) {
	mem := make([]byte, slotBytes)
	r, err := mailbox.NewRing(mem, 1)
	require.NoError(t, err)
	copy(mem, "payload first")
	_, ok := r.Peek()
	require.False(t, ok)
	w, err := mailbox.EncodeHeader(mailbox.Header{Length: 13, Seq: 1})
	require.NoError(t, err)
	binary.LittleEndian.PutUint64(mem[regs.SlotHdrOff:], w)
	s, ok := r.Peek()
	require.True(t, ok)
	require.Equal(t, "payload first", string(s.Payload))
}

func TestRingReportsImpossibleHeaders(t *testing.T) {
	mem := make([]byte, slotBytes)
	r, err := mailbox.NewRing(mem, 1)
	require.NoError(t, err)
	binary.LittleEndian.PutUint64(mem[regs.SlotHdrOff:], 1<<32|1<<31)
	s, ok := r.Peek()
	require.True(t, ok)
	require.ErrorContains(t, s.Err, "reserved bits 30..31 are 2, expected 0")
	r.Advance()
	require.Equal(t, uint32(1), r.Consumed())
}

func TestNewRingErrors(t *testing.T) {
	mem := make([]byte, 2*slotBytes+8)
	for want, f := range map[string]func() (*mailbox.Ring, error){
		"a ring of 0 slots, expected 1..16777215":        func() (*mailbox.Ring, error) { return mailbox.NewRing(nil, 0) },
		"136 bytes for a ring of 2 slots, expected 128":  func() (*mailbox.Ring, error) { return mailbox.NewRing(mem, 2) },
		"expected an address aligned to 8 bytes":         func() (*mailbox.Ring, error) { return mailbox.NewRing(mem[1:129], 2) },
		"a ring of 16777216 slots, expected 1..16777215": func() (*mailbox.Ring, error) { return mailbox.NewRing(nil, 1<<24) },
	} {
		_, err := f()
		require.ErrorContains(t, err, want)
	}
}

func TestHeaderErrors(t *testing.T) {
	for want, h := range map[string]mailbox.Header{
		"expected at most 56 payload bytes":             {Length: 57},
		"expected at most 54 payload bytes":             {Length: 55, Piggyback: true},
		"expected a payload of 2 bytes":                 {Kind: mailbox.Credit, Length: 3},
		"expected an empty payload":                     {Kind: mailbox.CreditRequest, Length: 2},
		"expected a piggyback only on data packets":     {Kind: mailbox.CreditResponse, Length: 2, Piggyback: true},
		"VPID 16, expected at most 4095 and 15":         {SrcVPID: 16},
		"source node 4096, VPID 0, expected at most 40": {SrcNode: 4096},
		"expected kind 0..3":                            {Kind: 4},
	} {
		_, err := mailbox.EncodeHeader(h)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, mailbox.WriteSlot(make([]byte, 64), mailbox.Header{Length: 1}, nil, 0), "a payload of 0, expected 64 and 1")
}

// Decoding is total: an error or a header that encodes to the same word.
func FuzzDecodeHeader(f *testing.F) {
	f.Add(uint64(0))
	f.Add(^uint64(0))
	f.Add(uint64(1)<<32 | 2<<16 | 1<<26)
	f.Add(uint64(7)<<32 | 54<<16 | 1<<28 | 0xfff3)
	f.Fuzz(func(t *testing.T, w uint64) {
		h, err := mailbox.DecodeHeader(w)
		if err != nil {
			return
		}
		back, err := mailbox.EncodeHeader(h)
		if err != nil || back != w {
			t.Fatalf("%#x decodes to %+v, which encodes to %#x, %v", w, h, back, err)
		}
	})
}

// Whatever is in the memory, Peek neither panics nor returns bytes outside the slot's payload.
func FuzzPeek(f *testing.F) {
	f.Add(uint64(1)<<32|54<<16|1<<28, []byte("piggyback"))
	f.Add(uint64(1)<<32|0x3ff<<16, []byte{})
	f.Fuzz(func(t *testing.T, header uint64, payload []byte) {
		mem := make([]byte, slotBytes)
		copy(mem, payload)
		binary.LittleEndian.PutUint64(mem[regs.SlotHdrOff:], header)
		r, err := mailbox.NewRing(mem, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := r.Peek()
		if ok != (header>>32 == 1) {
			t.Fatalf("header %#x: Peek = %v", header, ok)
		}
		if ok && s.Err == nil && len(s.Payload) != int(s.Length) {
			t.Fatalf("header %#x: %d payload bytes", header, len(s.Payload))
		}
	})
}
