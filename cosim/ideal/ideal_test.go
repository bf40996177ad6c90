package ideal

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// accessCycles is the latency of a register access: fetch, decode, access, response.
const accessCycles = 6

var seed = flag.Uint64("seed", 1, "seed of the random tests")

// rig is a machine whose mailboxes are enabled: the ring of vpid v is at v<<16.
type rig struct {
	*nic.Machine
	t    *testing.T
	stop drivers.Stop
}

func newRig(t *testing.T, nodes, slots int, sink drivers.TraceSink) *rig {
	s, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: nodes, MemoryBytes: 1 << 20, Trace: sink})
	require.NoError(t, err)
	r := &rig{Machine: s.(*nic.Machine), t: t}
	for n := range nodes {
		for v := range uint8(regs.VPIDs) {
			r.PostReg(n, 0, regs.PDID(v), 1)
			r.PostReg(n, 0, regs.MboxBase(v), uint64(v)<<16)
			r.PostReg(n, 0, regs.MboxSlots(v), uint64(slots))
			r.PostReg(n, 0, regs.MboxCtrl(v), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		}
	}
	r.run(drivers.Forever)
	require.True(t, r.stop.Idle)
	return r
}

func (r *rig) run(deadline drivers.Cycle) { require.NoError(r.t, r.Run(deadline, &r.stop)) }

func (r *rig) reg(node int, off uint32) uint64 {
	v, err := r.Device(node).ReadReg(off)
	require.NoError(r.t, err)
	return v
}

func (r *rig) send(src, srcV, dst, dstV int, payload []byte) {
	off := regs.PioFields{Length: uint8(len(payload)), DstNode: uint8(dst), DstVPID: uint8(dstV), SrcVPID: uint8(srcV)}.Pack()
	r.PostPIO(src, r.Now(), uint32(off), payload)
}

func (r *rig) slot(node, vpid, i int) (regs.Slot, []byte) {
	mem := r.Device(node).Memory()[vpid<<16+i*regs.SlotBytes:][:regs.SlotBytes]
	return regs.Slot(binary.LittleEndian.Uint64(mem[regs.SlotHdrOff:])), mem[:regs.SlotHdrOff]
}

func requireBusError(t *testing.T, err error, want drivers.BusError) {
	t.Helper()
	var e *drivers.BusError
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, *e)
}

func TestSend(t *testing.T) {
	r := newRig(t, 2, 4, nil)
	w, err := r.Watch(1, 5<<16, regs.SlotBytes)
	require.NoError(t, err)
	r.Arm(w)
	r.ArmPIO(0, 3, 1)
	p := regs.PioFields{Length: 5, Piggyback: true, Kind: regs.KindData, DstNode: 1, DstVPID: 5, SrcVPID: 3}.Pack()
	r.PostPIO(0, r.Now()+100, uint32(p), []byte("hello\x02\x01"))
	start := r.Now()

	r.run(drivers.Forever)
	// One cycle each for fetch, address, one beat, check and completion; the pipe takes none.
	require.Equal(t, start+100+5, r.stop.Now)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredPIO, Node: 0, VPID: 3}}, r.stop.Fired)
	require.EqualValues(t, 1, r.PIOTaken(0, 3))

	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredWatch, Node: 1, Watch: w}}, r.stop.Fired)
	h, payload := r.slot(1, 5, 0)
	require.Equal(t, regs.SlotFields{SrcVPID: 3, Length: 5, Piggyback: true, Seq: 1}, h.Fields())
	require.Equal(t, "hello\x02\x01\x00", string(payload[:8]))

	r.run(drivers.Forever)
	require.True(t, r.stop.Idle)
	require.EqualValues(t, 1, r.reg(0, regs.TXPackets))
	require.EqualValues(t, 1, r.reg(1, regs.RXPackets))
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(5)))
}

func TestRefusedSends(t *testing.T) {
	good := regs.PioFields{Length: 8, DstNode: 1, SrcVPID: 2}
	for _, tc := range []struct {
		change func(*regs.PioFields)
		bytes  int
		raw    uint32
		reason regs.DropReason
	}{
		{nil, 64, 8, regs.DropReasonBadLength},
		{nil, 16, 56, regs.DropReasonBadLength},
		{nil, 8, 1, regs.DropReasonBadLength},
		{func(f *regs.PioFields) { f.Length = 57 }, 64, 0, regs.DropReasonBadLength},
		{func(f *regs.PioFields) { f.Length, f.Piggyback = 55, true }, 64, 0, regs.DropReasonBadLength},
		{func(f *regs.PioFields) { f.DstNode = 2 }, 8, 0, regs.DropReasonNoSuchNode},
		{func(f *regs.PioFields) { f.SrcVPID = 9 }, 8, 0, regs.DropReasonWindowOff},
	} {
		r := newRig(t, 2, 4, nil)
		r.PostReg(0, r.Now(), regs.MboxCtrl(9), regs.MboxCtrlEnable)
		r.PostReg(0, r.Now(), regs.IRQMask, regs.IRQMaskError)
		r.run(drivers.Forever)
		f := good
		if tc.change != nil {
			tc.change(&f)
		}
		off := uint32(f.Pack()) | tc.raw
		r.ArmIRQ(0)
		r.PostPIO(0, r.Now(), off, make([]byte, tc.bytes))

		r.run(drivers.Forever)
		require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ}}, r.stop.Fired, "a cycle before the answer")
		requireBusError(t, r.Run(drivers.Forever, &r.stop), drivers.BusError{Port: "pio", Off: off, Write: true, Resp: drivers.RespSLVERR})
		require.EqualValues(t, 1, r.reg(0, regs.TXDropped))
		require.EqualValues(t, 1, r.PIOTaken(0, int(f.SrcVPID)))
		info := r.reg(0, regs.ErrorInfo)
		require.EqualValues(t, tc.reason, regs.ErrorInfoReason.Of(info))
		require.EqualValues(t, f.SrcVPID, regs.ErrorInfoSrc.Of(info))
	}
}

func TestDropsAtTheCompleter(t *testing.T) {
	for _, tc := range []struct {
		off    uint32
		v      uint64
		reason regs.DropReason
	}{
		{regs.MboxCtrl(1), 0, regs.DropReasonMailboxOff},
		{regs.MboxSlots(1), 0, regs.DropReasonMailboxOff},
		{regs.MboxBase(1), 1<<20 - 32, regs.DropReasonNone}, // rounded down to a slot
		{regs.MboxBase(1), 1 << 20, regs.DropReasonDMAError},
		{regs.MboxBase(1), ^uint64(0), regs.DropReasonDMAError},
	} {
		r := newRig(t, 2, 4, nil)
		r.PostReg(1, r.Now(), regs.MboxCtrl(1), 0) // base and size must not change while it is enabled
		r.PostReg(1, r.Now(), tc.off, tc.v)
		if tc.off != regs.MboxCtrl(1) {
			r.PostReg(1, r.Now(), regs.MboxCtrl(1), regs.MboxCtrlEnable)
		}
		r.send(0, 0, 1, 1, []byte{1})
		if tc.reason == regs.DropReasonDMAError {
			var e *drivers.DMAError
			require.ErrorAs(t, r.Run(drivers.Forever, &r.stop), &e)
			require.Equal(t, &drivers.DMAError{Node: 1, Addr: tc.v &^ 63, Bytes: 64, Memory: 1 << 20}, e)
		}
		r.run(drivers.Forever)
		require.True(t, r.stop.Idle)
		dropped := uint64(1)
		if tc.reason == regs.DropReasonNone {
			dropped = 0
		}
		require.Equal(t, dropped, r.reg(1, regs.RXDropped))
		require.Equal(t, 1-dropped, r.reg(1, regs.RXPackets))
		require.EqualValues(t, tc.reason, regs.ErrorInfoReason.Of(r.reg(1, regs.ErrorInfo)))
	}
}

// A full mailbox blocks the whole node, up to the senders' windows.
func TestBackPressure(t *testing.T) {
	r := newRig(t, 3, 2, nil)
	r.PostReg(1, r.Now(), regs.IRQMask, regs.IRQMaskStall)
	// two in the ring, two in the completer, eight in the network
	const sent = 2 + 2 + 8 + regs.VELOLines
	for i := range sent {
		r.send(0, 0, 1, 7, []byte{byte(i)})
		if i == 12 { // more lines at once than are taken would be refused
			r.run(drivers.Forever)
		}
	}
	r.ArmIRQ(1)
	r.run(drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ, Node: 1}}, r.stop.Fired)
	r.run(drivers.Forever)
	require.True(t, r.stop.Quiet)
	require.False(t, r.stop.Idle)
	require.EqualValues(t, sent-regs.VELOLines, r.PIOTaken(0, 0))
	require.EqualValues(t, sent|regs.VELOLines<<regs.VELOWindowWaiting.LSB(), r.reg(0, regs.VELOWindow(0)), "none refused")
	require.EqualValues(t, 2, r.reg(1, regs.MboxWP(7)))
	require.EqualValues(t, 7|regs.RXStallVPIDStalled, r.reg(1, regs.RXStallVPID))

	// No other packets reach that node; packets to other nodes do.
	r.send(2, 0, 1, 8, []byte{1})
	r.send(2, 1, 0, 0, []byte{2})
	r.run(r.Now() + 1000)
	require.True(t, r.stop.Quiet)
	require.Zero(t, r.reg(1, regs.MboxWP(8)))
	require.Zero(t, r.reg(0, regs.MboxWP(0)), "behind the first packet of its node")
	require.Greater(t, r.reg(1, regs.MboxStall(7)), uint64(900))
	require.Equal(t, r.reg(1, regs.MboxStall(7))+accessCycles, r.reg(1, regs.RXStall))
	require.Zero(t, r.reg(1, regs.MboxStall(8)))
	require.Greater(t, r.reg(0, regs.TXStall), uint64(900))

	for i := range uint32(sent) {
		r.PostReg(1, r.Now(), regs.MboxRP(7), uint64(i+1))
		r.run(drivers.Forever)
	}
	require.True(t, r.stop.Idle)
	require.EqualValues(t, sent, r.reg(1, regs.MboxWP(7)))
	require.EqualValues(t, 1, r.reg(1, regs.MboxWP(8)))
	h, payload := r.slot(1, 7, (sent-1)%2)
	require.EqualValues(t, sent, h.Seq())
	require.EqualValues(t, sent-1, payload[0])
	require.Equal(t, []uint64{7, 0}, []uint64{r.reg(1, regs.RXStallVPID), r.reg(1, regs.RXDropped)})
}

func TestRegisters(t *testing.T) {
	r := newRig(t, 2, 4, nil)
	d := r.Device(1)
	require.EqualValues(t, regs.MagicValue, r.reg(1, regs.Magic))
	require.EqualValues(t, regs.DescHashValue, r.reg(1, regs.DescHash))
	require.EqualValues(t, 1, r.reg(1, regs.NodeID))
	require.EqualValues(t, 2, regs.ParamsNodes.Of(r.reg(1, regs.Params)))
	require.NoError(t, d.WriteReg(regs.Scratch, 0x1234))
	require.EqualValues(t, 0x1234, r.reg(1, regs.Scratch), "a read follows the writes posted before it")

	for i := range regs.Registers() { // every register can be read
		reg := &regs.Registers()[i]
		if strings.HasPrefix(reg.Name, "LINK_") || strings.HasPrefix(reg.Name, "WIRE_") {
			continue
		}
		for c := range reg.Count {
			r.reg(1, reg.Address(int(c)))
		}
	}
	require.Zero(t, r.reg(1, regs.BadAccess))
	for i, off := range []uint32{0x4, 0x38, 0xffff8, regs.MboxRP(15) + 32, regs.LinkStatus(0)} {
		_, err := d.ReadReg(off)
		requireBusError(t, err, drivers.BusError{Node: 1, Port: "register", Off: off, Resp: drivers.RespDECERR})
		require.EqualValues(t, i+1, r.reg(1, regs.BadAccess))
	}
	require.NoError(t, d.WriteReg(regs.Magic, 1))
	_, err := d.ReadReg(regs.Scratch) // the error of a posted write is returned with the next response
	requireBusError(t, err, drivers.BusError{Node: 1, Port: "register", Off: regs.Magic, Write: true, Resp: drivers.RespSLVERR})
}

func TestDeadlinesAndOrder(t *testing.T) {
	r := newRig(t, 1, 4, nil)
	now := r.Now()
	r.PostReg(0, now+20, regs.Scratch, 2)
	r.PostReg(0, now+10, regs.Scratch, 1)
	r.PostReg(0, now+20, regs.Scratch, 3)
	r.run(now + 10)
	require.Equal(t, now+10, r.stop.Now)
	require.False(t, r.stop.Quiet)
	require.Zero(t, r.reg(0, regs.Scratch)&^1)
	r.run(now + 30)
	require.Equal(t, now+30, r.stop.Now)
	require.True(t, r.stop.Idle)
	require.EqualValues(t, 3, r.reg(0, regs.Scratch))
	r.run(5) // a deadline in the past does not advance time
	require.Equal(t, r.stop.Now, r.Now())
}

// Events that fire during a register read are reported by the next Run.
func TestFiredDuringRead(t *testing.T) {
	r := newRig(t, 1, 4, nil)
	r.ArmPIO(0, 0, 1)
	r.send(0, 0, 0, 0, nil)
	r.reg(0, regs.Scratch)
	r.reg(0, regs.Scratch) // the line is taken meanwhile
	now := r.Now()
	r.run(drivers.Forever)
	require.Equal(t, now, r.stop.Now)
	require.Len(t, r.stop.Fired, 1)
}

func TestMisuse(t *testing.T) {
	r := newRig(t, 2, 4, nil)
	for _, w := range [][3]uint64{{2, 0, 1}, {0, 0, 0}, {0, 1 << 20, 1}, {0, 1<<20 - 1, 2}, {0, ^uint64(0), 2}} {
		_, err := r.Watch(int(w[0]), w[1], w[2])
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Run(0, &r.stop), drivers.ErrClosed)
	_, err := r.Device(0).ReadReg(0)
	require.ErrorIs(t, err, drivers.ErrClosed)
	require.ErrorIs(t, r.Device(0).WriteReg(0, 0), drivers.ErrClosed)
	require.ErrorIs(t, r.Device(0).WritePIO(0, nil), drivers.ErrClosed)

	for uri, opt := range map[string]drivers.Options{
		"ideal:x":              {},
		"ideal:?latency=0":     {},
		"ideal:?depth=no":      {},
		"ideal:?latenzy=1":     {},
		"ideal:?latency=1":     {Nodes: 65},
		"ideal:?latency=2":     {MemoryBytes: 63},
		"ideal:?depth=2097152": {},
	} {
		_, err := registry.Open(context.Background(), uri, opt)
		require.ErrorIs(t, err, drivers.ErrConfig, uri)
	}
	_, err = New(drivers.Options{Waves: &drivers.WaveWindow{}}, 1, 1)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
}

// ordered fails on events that are not in order of time.
type ordered struct {
	t    *testing.T
	last drivers.Cycle
	text []string
}

func (o *ordered) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		require.GreaterOrEqual(o.t, e.Cycle, o.last)
		o.last = e.Cycle
		o.text = append(o.text, fmt.Sprint(e))
	}
	return nil
}

// Random traffic: every packet arrives once and in order, and two runs are equal.
func TestRandomTraffic(t *testing.T) {
	first, second := traffic(t, *seed), traffic(t, *seed)
	require.Equal(t, first, second, "not deterministic")
}

func traffic(t *testing.T, seed uint64) []string {
	fail := fmt.Sprintf("rerun: go test ./cosim/ideal -run TestRandomTraffic -seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const nodes, slots, packets = 4, 5, 2000
	sink := &ordered{t: t}
	r := newRig(t, nodes, slots, sink)
	var sent, got [nodes][nodes]uint32 // by source and destination
	var read [nodes][regs.VPIDs]uint32
	total := 0
	drain := func() {
		for n := range nodes {
			for v := range regs.VPIDs {
				for {
					h, payload := r.slot(n, v, int(read[n][v]%slots))
					if h.Seq() != read[n][v]+1 {
						break
					}
					src := h.SrcNode()
					require.Equal(t, got[src][n], binary.LittleEndian.Uint32(payload), fail)
					got[src][n]++
					read[n][v]++
					total++
				}
				r.PostReg(n, r.Now(), regs.MboxRP(uint8(v)), uint64(read[n][v]))
			}
		}
	}
	for range packets {
		src, dst := rng.IntN(nodes), rng.IntN(nodes)
		var payload [regs.VELOPayload]byte
		binary.LittleEndian.PutUint32(payload[:], sent[src][dst])
		sent[src][dst]++
		r.send(src, dst, dst, src, payload[:4+rng.IntN(53)])
		if rng.IntN(10) == 0 {
			r.run(r.Now() + drivers.Cycle(rng.IntN(200)))
			drain()
		}
	}
	for r.stop.Idle = false; !r.stop.Idle; {
		r.run(r.Now() + 100)
		drain()
	}
	require.Equal(t, packets, total, fail)
	require.NoError(t, r.Close())
	return sink.text
}

func BenchmarkPingPong(b *testing.B) {
	s, err := New(drivers.Options{}, 20, 8)
	require.NoError(b, err)
	var stop drivers.Stop
	s.PostReg(0, 0, regs.PDID(0), 1)
	s.PostReg(1, 0, regs.PDID(0), 1)
	s.PostReg(1, 0, regs.MboxSlots(0), 1<<23)
	s.PostReg(1, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable)
	s.PostReg(1, 0, regs.MboxSlots(0), 1024)
	s.PostReg(0, 0, regs.MboxCtrl(0), regs.MboxCtrlWindow)
	require.NoError(b, s.Run(drivers.Forever, &stop))
	off := uint32(regs.PioFields{Length: 56, DstNode: 1}.Pack())
	var line [56]byte
	b.ReportAllocs()
	for i := range b.N {
		s.PostPIO(0, s.Now(), off, line[:])
		s.PostReg(1, s.Now(), regs.MboxRP(0), uint64(i))
		if err := s.Run(drivers.Forever, &stop); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRefusesKeys(t *testing.T) {
	for uri, want := range map[string]string{
		"ideal:?clock=sun":        `clock="sun": expected simulated or wall`,
		"ideal:?dma_base=1":       `dma_base="1": expected a multiple of 4096`,
		"ideal:?dma_segment=0x10": `dma_segment="0x10": expected a multiple of 4096`,
	} {
		_, err := registry.Open(context.Background(), uri, drivers.Options{})
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}
