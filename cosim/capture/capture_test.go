package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// flits returns the events of a packet that passes a point from cycle at on.
func flits(node uint16, point uint8, at drivers.Cycle, h regs.Header, payload []byte) []drivers.TraceEvent {
	padded := make([]byte, flit.Payload(h)*regs.FlitBytes)
	copy(padded, payload)
	words := []uint64{uint64(h)}
	for i := 0; i < len(padded); i += regs.FlitBytes {
		words = append(words, binary.LittleEndian.Uint64(padded[i:]))
	}
	words = append(words, uint64(flit.Close(h, padded, regs.TailFields{PDID: 0xd0, Life: 3}.Pack())))
	var events []drivers.TraceEvent
	vc := uint8(0)
	if h.Answer() {
		vc = 2
	}
	for i, w := range words {
		e := drivers.TraceEvent{Cycle: at + drivers.Cycle(i), Data: w, Node: node, Point: point, VC: vc}
		if i == 0 {
			e.Flags |= drivers.TraceHead
		}
		if i == len(words)-1 {
			e.Flags |= drivers.TraceTail
		}
		events = append(events, e)
	}
	return events
}

func velo(f regs.HeaderFields) regs.Header {
	f.Type = regs.PacketTypeVELO
	return f.Pack()
}

// pattern is a payload of n bytes, followed by the credits of a piggyback.
func pattern(h regs.Header, credits uint16) []byte {
	b := make([]byte, h.Length(), flit.Bytes(h)+1)
	for i := range b {
		b[i] = byte(i + 1)
	}
	if h.Piggyback() {
		b = binary.LittleEndian.AppendUint16(b, credits)
	}
	return b
}

func capture(t testing.TB, batches ...[]drivers.TraceEvent) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf)
	require.NoError(t, err)
	for _, events := range batches {
		require.NoError(t, w.Trace(events))
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// packet is a packet of a capture as decoded by gopacket's reader.
type packet struct {
	link     string
	ns       int64
	data     []byte
	original int
}

func read(t testing.TB, file []byte) (list []packet) {
	r, err := pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.NgReaderOptions{})
	require.NoError(t, err)
	for {
		data, ci, err := r.ReadPacketData()
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		i, err := r.Interface(ci.InterfaceIndex)
		require.NoError(t, err)
		require.Equal(t, LinkType, i.LinkType)
		list = append(list, packet{i.Name, ci.Timestamp.UnixNano(), data, ci.Length})
	}
}

func TestEmptyCapture(t *testing.T) {
	require.Empty(t, read(t, capture(t)))
}

// Packets on different links and channels are interleaved flit by flit.
func TestReassembly(t *testing.T) {
	h0 := velo(regs.HeaderFields{Length: 10, DstNode: 1})
	h1 := velo(regs.HeaderFields{Length: 3, DstNode: 1, SrcVPID: 4, Answer: true})
	a := flits(0, drivers.PointLink1, 100, h0, pattern(h0, 0))
	b := flits(0, drivers.PointLink1, 100, h1, pattern(h1, 0))
	c := flits(1, drivers.PointEject, 101, h0, pattern(h0, 0))
	var mixed []drivers.TraceEvent
	for i := range a {
		mixed = append(mixed, a[i])
		if i < len(b) {
			mixed = append(mixed, b[i])
		}
		mixed = append(mixed, c[i])
	}
	mixed = append(mixed, drivers.TraceEvent{Cycle: 999, Point: drivers.PointSlot})

	whole := capture(t, mixed)
	list := read(t, whole)
	require.Len(t, list, 3)
	var text []string
	for _, p := range list {
		text = append(text, fmt.Sprint(p.link, " ", p.ns, " ", len(p.data), " ", p.original))
	}
	// 6.4 ns per cycle; the time is that of the last flit
	require.Equal(t, []string{"node0.x+ 652 24 24", "node0.x+ 659 32 32", "node1.eject 665 32 32"}, text)
	require.Equal(t, list[1].data, list[2].data)

	var single [][]drivers.TraceEvent
	for i := range mixed {
		single = append(single, mixed[i:i+1])
	}
	require.Equal(t, whole, capture(t, single...), "how events are batched must not show")
}

func TestIncompletePackets(t *testing.T) {
	h := velo(regs.HeaderFields{Length: 24, DstNode: 1})
	p := flits(0, drivers.PointInject, 10, h, pattern(h, 0))
	q := flits(0, drivers.PointInject, 20, h, pattern(h, 0))
	list := read(t, capture(t, p[3:], p[:2], q, p[:3]))
	require.Len(t, list, 3)
	require.Equal(t, []int{16, 40, 24}, []int{len(list[0].data), len(list[1].data), len(list[2].data)})
	for _, p := range list {
		require.Equal(t, 40, p.original)
	}

	// A missing tail does not use unlimited memory.
	endless := make([]drivers.TraceEvent, 1000)
	endless[0] = drivers.TraceEvent{Data: uint64(h), Flags: drivers.TraceHead}
	list = read(t, capture(t, endless))
	require.Len(t, list, 1)
	require.Len(t, list[0].data, maxPacket)
}

type failing struct{ after int }

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteErrorsStick(t *testing.T) {
	w, err := NewWriter(&failing{5000})
	require.NoError(t, err)
	h := velo(regs.HeaderFields{Length: 56})
	p := flits(0, 0, 0, h, pattern(h, 0))
	for range 100 {
		err = w.Trace(p)
	}
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.ErrorIs(t, w.Close(), io.ErrShortWrite)
}

type counter struct {
	n    int
	fail error
}

func (c *counter) Trace(e []drivers.TraceEvent) error {
	c.n += len(e)
	return c.fail
}

func TestTee(t *testing.T) {
	a, b, c := &counter{}, &counter{fail: io.ErrClosedPipe}, &counter{}
	require.ErrorIs(t, Tee(a, b, c).Trace(make([]drivers.TraceEvent, 3)), io.ErrClosedPipe)
	require.Equal(t, []int{3, 3, 0}, []int{a.n, b.n, c.n})
	require.Same(t, a, Tee(a))
	require.NoError(t, Tee().Trace(nil))
}

func BenchmarkWriter(b *testing.B) {
	w, err := NewWriter(io.Discard)
	require.NoError(b, err)
	h := velo(regs.HeaderFields{Length: 56})
	p := flits(0, 0, 0, h, pattern(h, 0))
	b.ReportAllocs()
	for range b.N {
		if err := w.Trace(p); err != nil {
			b.Fatal(err)
		}
	}
}
