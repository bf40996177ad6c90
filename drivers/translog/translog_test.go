package translog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/dump.txt; commit it only if you understand the change")

var meta = Meta{
	Info:  drivers.Info{URI: "test:", Backend: "test", Nodes: 2, VPIDs: 16, ClockPS: 6400, DescHash: 0x1234, Tool: "none"},
	Timed: true, Memory: []int{4096, 4096},
}

func slotBytes() []byte {
	b := make([]byte, regs.SlotBytes)
	copy(b, "hello")
	h := regs.SlotFields{SrcVPID: 3, SrcNode: 1, Length: 5, Piggyback: true, Seq: 7}.Pack()
	binary.LittleEndian.PutUint64(b[regs.SlotHdrOff:], uint64(h))
	return b
}

// every has one operation of every kind, and the awkward values.
func every() []Op {
	bus := &drivers.BusError{Node: 1, Port: "pio", Off: 0x40, Write: true, Resp: 2}
	dma := &drivers.DMAError{Node: 1, Addr: 1 << 40, Bytes: 64, Memory: 4096}
	refused := errors.Join(fmt.Errorf("while running: %w", bus), dma)
	return []Op{
		{Kind: Watch, Node: 1, Off: 64, Len: 128, ID: 0},
		{Kind: Watch, Node: 9, Off: 1, Len: 1, Err: NewFailure(fmt.Errorf("%w: no such node", drivers.ErrConfig))},
		{Kind: PostReg, Node: 1, At: 12, Off: uint64(regs.MboxRP(3)), Value: ^uint64(0)},
		{Kind: PostPIO, At: drivers.Forever, Off: uint64(regs.PioFields{Length: 3, Kind: regs.KindCredit, DstNode: 1, SrcVPID: 2}.Pack()), Data: []byte("abc")},
		{Kind: Arm, ID: 5},
		{Kind: ArmPIO, Node: 1, VPID: 15, Value: 3},
		{Kind: ArmIRQ, Node: 1},
		{Kind: Run, At: drivers.Forever, Stop: drivers.Stop{Now: 100, Quiet: true, Fired: []drivers.Fired{
			{Kind: drivers.FiredWatch, Node: 1, Watch: 5}, {Kind: drivers.FiredPIO, Node: 1, VPID: 15}, {Kind: drivers.FiredIRQ}}}, Err: NewFailure(refused)},
		{Kind: Memory, Node: 1, Off: 64, Data: slotBytes()},
		{Kind: Memory, Off: 4095, Data: []byte{9}},
		{Kind: PostReg, At: 3, Off: 0xfff8, Value: 1}, // in the past, outside the map
		{Kind: ReadReg, Off: uint64(regs.Cycles), Value: 100, Stop: drivers.Stop{Now: 104}},
		{Kind: ReadReg, Off: 0x2c, Stop: drivers.Stop{Now: 108}, Err: NewFailure(io.ErrUnexpectedEOF)},
		{Kind: PIOTaken, Node: 1, VPID: 2, Value: 1 << 40},
		{Kind: WriteReg, Node: 1, Off: uint64(regs.MboxCtrl(2)), Value: 3},
		{Kind: WritePIO, Off: 0x40, Data: make([]byte, 57)},
		{Kind: Run, At: 200, Stop: drivers.Stop{Now: 200, Idle: true}},
		{Kind: Await, Node: 1, Off: 64, Len: 128},
		{Kind: Wait, Node: 1, Err: NewFailure(drivers.ErrQuiescent)},
		{Kind: Store, Off: 8, Data: []byte{1, 2, 3}},
		{Kind: Changed, Node: 1, Off: 4000, Data: make([]byte, 96)},
	}
}

func encode(t testing.TB, ops []Op) []byte {
	var buf bytes.Buffer
	w := NewWriter(&buf, meta)
	for i := range ops {
		w.Append(&ops[i])
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func decode(data []byte) (ops []Op, err error) {
	r, err := NewReader(data)
	if err != nil {
		return nil, err
	}
	var o Op
	for {
		if err := r.Next(&o); err != nil {
			if err == io.EOF {
				err = nil
			}
			return ops, err
		}
		ops = append(ops, o.Clone())
	}
}

func TestRoundTrip(t *testing.T) {
	want := every()
	log := encode(t, want)
	got, err := decode(log)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range got {
		got[i].Now = 0
		if len(got[i].Data) == 0 {
			got[i].Data = nil
		}
		if len(got[i].Stop.Fired) == 0 {
			got[i].Stop.Fired = nil
		}
		require.Equal(t, want[i], got[i])
	}
	require.Equal(t, log, encode(t, got), "decoding and encoding again gives the same bytes")

	seen := map[Kind]bool{}
	for _, o := range want {
		seen[o.Kind] = true
	}
	require.Len(t, seen, int(kinds)-1, "a kind is missing from the test")
}

// What errors.Is and errors.As find survives.
func TestErrorsSurvive(t *testing.T) {
	ops, err := decode(encode(t, every()))
	require.NoError(t, err)
	require.ErrorIs(t, ops[1].Err.AsError(), drivers.ErrConfig)
	var bus *drivers.BusError
	require.ErrorAs(t, ops[7].Err.AsError(), &bus)
	require.Equal(t, uint32(0x40), bus.Off)
	var dma *drivers.DMAError
	require.ErrorAs(t, ops[7].Err.AsError(), &dma)
	require.EqualValues(t, 1<<40, dma.Addr)
	require.NoError(t, ops[0].Err.AsError())
}

func TestDump(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, Dump(&text, encode(t, every())))
	const file = "testdata/dump.txt"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}

// A log cut off anywhere gives what lies before the cut, then an offset.
func TestCutOff(t *testing.T) {
	log := encode(t, every())
	whole, err := decode(log)
	require.NoError(t, err)
	last := 0
	for n := range log {
		ops, err := decode(log[:n])
		var f *FormatError
		require.ErrorAs(t, err, &f, "cut at %d", n)
		require.LessOrEqual(t, f.Offset, n)
		require.GreaterOrEqual(t, len(ops), last)
		last = len(ops)
		for i := range ops {
			require.True(t, ops[i].SameCall(&whole[i]))
		}
	}
	require.Equal(t, len(whole), last)
}

// Every damaged byte is found: by its operation, or by the CRC at the end.
func TestDamage(t *testing.T) {
	log := encode(t, every())
	for i := range log {
		bad := bytes.Clone(log)
		bad[i] ^= 0x10
		_, err := decode(bad)
		var f *FormatError
		require.ErrorAs(t, err, &f, "byte %d", i)
	}
	_, err := decode(append(bytes.Clone(log), 0))
	require.ErrorContains(t, err, "1 bytes behind the end mark")
	newer := bytes.Clone(log)
	newer[6] = FormatVersion + 1
	_, err = decode(newer)
	require.ErrorContains(t, err, "this program reads versions 1 to 3")
	_, err = decode([]byte("GIF89a.."))
	require.ErrorContains(t, err, `found "GIF89a"`)
}

func TestWriteError(t *testing.T) {
	w := NewWriter(broken{}, meta)
	o := every()[2]
	for range 2 * bufferSize / 4 {
		w.Append(&o)
	}
	require.ErrorIs(t, w.Err(), io.ErrShortWrite)
	require.ErrorIs(t, w.Close(), io.ErrShortWrite)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestRegister(t *testing.T) {
	require.Equal(t, "MBOX_RP[3]", Register(regs.MboxRP(3)))
	require.Equal(t, "0x23004 (MBOX_RP[3]+0x4)", Register(regs.MboxRP(3)+4))
	require.Equal(t, "0xffff (MBOX_BASE[0]-0x1)", Register(0xffff))
	require.Equal(t, "0x5000 (no register near)", Register(0x5000))
	require.Equal(t, "0xffffffff (MAGIC-0x1)", Register(0xffffffff))
}

func TestNoAllocation(t *testing.T) {
	w := NewWriter(io.Discard, meta)
	ops := every()
	require.Zero(t, testing.AllocsPerRun(10_000, func() {
		for _, i := range []int{2, 3, 4, 11, 13} {
			w.Append(&ops[i])
		}
	}))
}

// Any bytes: operations that can be printed, and nothing wrong or a FormatError.
func FuzzDecode(f *testing.F) {
	log := encode(f, every())
	f.Add(log)
	f.Add(log[:len(log)-6])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		ops, err := decode(data)
		for i := range ops {
			_ = ops[i].Call() + ops[i].Answer()
		}
		_ = Dump(io.Discard, data)
		var f *FormatError
		if err != nil && !errors.As(err, &f) {
			t.Fatalf("error of type %T: %v", err, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	w := NewWriter(io.Discard, meta)
	o := every()[3]
	b.ReportAllocs()
	for range b.N {
		w.Append(&o)
	}
}

// asVersion makes a log one of another version.
func asVersion(log []byte, version byte) []byte {
	old := bytes.Clone(log)
	old[len(magic)] = version
	const mark = 1 + 1 + 4 // kind, a count below 128, CRC
	body := old[:len(old)-mark]
	binary.LittleEndian.PutUint32(old[len(old)-4:], crc32.ChecksumIEEE(body))
	return old
}

// Logs of before are still read; what they cannot have is damage.
func TestVersion1(t *testing.T) {
	var old []Op
	for _, o := range every() {
		if o.Kind < first2 {
			old = append(old, o)
		}
	}
	got, err := decode(asVersion(encode(t, old), 1))
	require.NoError(t, err)
	require.Len(t, got, len(old))
	_, err = decode(asVersion(encode(t, every()), 1))
	var f *FormatError
	require.ErrorAs(t, err, &f)
	require.ErrorContains(t, err, "operation of kind 13; expected less than 13")
}

// Until version 2 all nodes had the same segments.
func TestVersion2(t *testing.T) {
	m := meta
	m.Segments = [][]drivers.Segment{{{Addr: 1 << 40, Bytes: 4096}}, {{Addr: 1 << 30, Bytes: 4096}}}
	log := func(head func([]byte) []byte) []byte {
		text, err := json.Marshal(m)
		require.NoError(t, err)
		w := &Writer{w: new(bytes.Buffer), buf: append([]byte(magic), 0, 0)}
		w.bytes(head(text))
		return w.buf
	}
	decoded := func(version byte, data []byte) (*Reader, error) {
		data[len(magic)] = version
		return NewReader(data)
	}
	got, err := decoded(FormatVersion, log(func(b []byte) []byte { return b }))
	require.NoError(t, err)
	require.Equal(t, m, got.Meta)
	old := func(b []byte) []byte {
		var head map[string]any
		require.NoError(t, json.Unmarshal(b, &head))
		delete(head, "segments_by_node")
		head["segments"] = m.Segments[0]
		b, err := json.Marshal(head)
		require.NoError(t, err)
		return b
	}
	got, err = decoded(2, log(old))
	require.NoError(t, err)
	require.Equal(t, [][]drivers.Segment{m.Segments[0], m.Segments[0]}, got.Meta.Segments)
	m.Segments = m.Segments[:1]
	_, err = decoded(FormatVersion, log(func(b []byte) []byte { return b }))
	require.ErrorContains(t, err, "log of segments of 1 nodes; expected those of 2")
}

// FuzzReader: whatever the bytes, decoding ends in values or in a FormatError.
func FuzzReader(f *testing.F) {
	log := encode(f, every())
	f.Add(log)
	f.Add(asVersion(log, 1))
	f.Add(log[:len(log)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		ops, err := decode(data)
		var bad *FormatError
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("%d operations, then %v: expected a FormatError", len(ops), err)
		}
		for i := range ops {
			_, _ = ops[i].Call(), ops[i].Answer()
		}
	})
}

// A log of another design has the map of its registers, so its text has their names, and what the
// device writes is not taken for slots of this project's NIC.
func TestNamesOfADesign(t *testing.T) {
	m, err := regmap.Decode([]byte("name: dma\nregisters:\n  HEAD: {off: 0x10}\n  LIST: {off: 0x40, count: 4, stride: 16}\n"))
	require.NoError(t, err)
	of := meta
	of.Info.Registers = m
	var buf bytes.Buffer
	w := NewWriter(&buf, of)
	for _, o := range []Op{
		{Kind: WriteReg, Off: 0x10, Value: 1}, {Kind: ReadReg, Node: 1, Off: 0x60, Value: 2}, {Kind: ReadReg, Off: 0x14},
		{Kind: Memory, Data: make([]byte, regs.SlotBytes)},
	} {
		w.Append(&o)
	}
	require.NoError(t, w.Close())
	var text bytes.Buffer
	require.NoError(t, Dump(&text, buf.Bytes()))
	require.Contains(t, text.String(), "HEAD = 0x1")
	require.Contains(t, text.String(), "read LIST[2] -> 0x2")
	require.Contains(t, text.String(), "read 0x14 (HEAD+0x4)")
	require.NotContains(t, text.String(), "slot")
	r, err := NewReader(buf.Bytes())
	require.NoError(t, err)
	require.Equal(t, m, r.Meta.Info.Registers)
}
