package nic

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// drivers.Timed: a finite deadline is always reached; with Forever Run stops when nothing more can
// happen.
func TestDeadlines(t *testing.T) {
	r := newPair(t)
	r.run(10000)
	require.EqualValues(t, 10000, r.stop.Now)
	require.True(t, r.stop.Quiet)
	r.PostPIO(0, 12000, uint32(regs.PioFields{Length: 1, DstNode: 1, DstVPID: 5, SrcVPID: 3}.Pack()), []byte{1})
	r.run(11000)
	require.EqualValues(t, 11000, r.Now())
	require.False(t, r.stop.Quiet)
	require.False(t, r.stop.Idle, "a line is posted")
	r.idle()
	require.Greater(t, r.Now(), drivers.Cycle(12000))
}

func TestDeviceOfANode(t *testing.T) {
	r := newPair(t)
	d := r.Device(0)
	require.NoError(t, d.WriteReg(regs.Scratch, 77))
	require.EqualValues(t, 77, r.reg(0, regs.Scratch))
	off := uint32(regs.PioFields{Length: 1, DstNode: 1, DstVPID: 5, SrcVPID: 3}.Pack())
	w, err := r.Device(1).Await(drivers.Cause{Off: mailboxes + 5*mailboxStride, Bytes: 64})
	require.NoError(t, err)
	require.NotNil(t, w)
	require.NoError(t, d.WritePIO(off, []byte{1}))
	r.run(drivers.Forever)
	require.Len(t, r.stop.Fired, 1)
	require.Nil(t, d.Segments())
	require.NotZero(t, d.Capabilities()&drivers.CanSimulate)
	r.SetURI("nic:?test=1")
	require.Equal(t, "nic:?test=1", r.Info().URI)
}

func TestClosedMachine(t *testing.T) {
	log := &traceLog{}
	r := newPair(t, func(c *Config) { c.Trace = log })
	r.send(0, 3, 1, 5, nil)
	r.idle()
	require.NoError(t, r.Close())
	require.NoError(t, r.Close(), "twice")
	require.NotEmpty(t, log.events)
	d := r.Device(0)
	require.ErrorIs(t, r.Run(drivers.Forever, &r.stop), drivers.ErrClosed)
	require.ErrorIs(t, d.WriteReg(regs.Scratch, 1), drivers.ErrClosed)
	require.ErrorIs(t, d.WritePIO(0, make([]byte, 8)), drivers.ErrClosed)
	_, err := d.ReadReg(regs.Magic)
	require.ErrorIs(t, err, drivers.ErrClosed)
	r.net.part.opened = r.Now() + 1 // as a thread has it that was stopped by Close
	require.ErrorIs(t, r.Part(0).Run(r.Now(), &r.stop), drivers.ErrClosed)
}

// drivers.Segment: what registers, tables and descriptors take are device addresses.
func TestSegments(t *testing.T) {
	const high = 1 << 40
	segments := []drivers.Segment{
		{Off: 0, Addr: high + rigMemory, Bytes: rigMemory / 2},
		{Off: rigMemory / 2, Addr: high, Bytes: rigMemory / 2},
	}
	for _, tc := range []struct {
		base, offset uint64
	}{{high + rigMemory + 0x4000, 0x4000}, {high + 0x4000, rigMemory/2 + 0x4000}} {
		r := newPair(t, func(c *Config) { c.Segments = [][]drivers.Segment{segments, segments} })
		require.Equal(t, segments, r.Device(1).Segments())
		r.set(1, regs.MboxCtrl(5), 0)
		r.set(1, regs.MboxBase(5), tc.base)
		r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable)
		id, err := r.Watch(1, tc.offset, 8)
		require.NoError(t, err)
		r.Arm(id)
		r.send(0, 3, 1, 5, []byte("12345678"))
		r.run(drivers.Forever)
		require.Len(t, r.stop.Fired, 1, "watches name offsets of the memory")
		require.Equal(t, "12345678", string(r.memory(1)[tc.offset:][:8]))
	}
	n := &newPair(t, func(c *Config) { c.Segments = [][]drivers.Segment{segments, segments} }).nodes[0]
	for _, tc := range []struct {
		addr, bytes uint64
		in          bool
	}{
		{high, 64, true}, {high + rigMemory/2 - 64, 64, true},
		{high + rigMemory/2 - 64, 65, false}, // the next segment in memory lies elsewhere for the NIC
		{high - 1, 1, false}, {0, 8, false}, {high + rigMemory/2, 8, false},
	} {
		require.Equal(t, tc.in, n.inMemory(span{tc.addr, tc.bytes}), "%d bytes at 0x%x", tc.bytes, tc.addr)
	}
}

// Without segments an address is an index, and none overflows.
func TestInMemory(t *testing.T) {
	n := &newRig(t, 1).nodes[0]
	require.True(t, n.inMemory(span{rigMemory - 8, 8}))
	require.False(t, n.inMemory(span{rigMemory - 7, 8}))
	require.False(t, n.inMemory(span{^uint64(7), 16}))
}

// creditNetwork is a fakeNetwork that can check its credits.
type creditNetwork struct {
	*fakeNetwork
	checks int
	err    error
}

func (c *creditNetwork) CheckCredits() error {
	c.checks++
	return c.err
}

// rtl/README.md, Sessions: credits are checked whenever the machine is idle, at most once per
// channel and cycle.
func TestIdleNetworkIsChecked(t *testing.T) {
	r := newPair(t)
	network := &creditNetwork{fakeNetwork: r.net}
	r.Connect(network)
	r.net.noCredit[SourceVELO] = true
	r.send(0, 3, 1, 5, nil)
	r.settle()
	require.Zero(t, network.checks, "not idle")
	r.net.noCredit[SourceVELO] = false
	r.idle()
	require.Equal(t, 1, network.checks)
	r.idle()
	require.Equal(t, 1, network.checks, "too early")
	network.err = errors.New("a credit is lost")
	r.PostReg(0, r.Now()+1000, regs.Scratch, 0)
	require.ErrorIs(t, r.Run(drivers.Forever, &r.stop), network.err)
}

// Nothing is allocated per packet once the free lists have grown.
func TestNoAllocationPerPacket(t *testing.T) {
	r := newRMA(t)
	r.set(1, regs.MboxCtrl(5), 0)
	r.set(1, regs.MboxCtrl(5), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
	d := toTarget(regs.RMACommandPut, 256)
	d.NotiRequester, d.NotiCompleter = false, false
	line := quadwords(uint64(d.Pack()), nla(0), nla(0))
	velo := uint32(regs.PioFields{Length: 8, DstNode: 1, DstVPID: 5, SrcVPID: 3}.Pack())
	rp := uint64(0)
	round := func() {
		r.net.departed = r.net.departed[:0]
		r.PostPIO(0, r.Now(), regs.Descriptors(origin), line)
		r.PostPIO(0, r.Now(), velo, line[:8])
		_ = r.Run(drivers.Forever, &r.stop)
		rp++
		r.PostReg(1, r.Now(), regs.MboxRP(5), rp)
	}
	for range 20 {
		round()
	}
	perRound := testing.AllocsPerRun(200, round)
	require.LessOrEqual(t, perRound, 2.0, "those of the fake network, for a packet of each class")
}

func TestReceiveRefusesLongPackets(t *testing.T) {
	r := newRig(t, 1)
	_, err := r.Part(0).Receive(regs.HeaderFields{Type: regs.PacketTypeRMAPut, Length: 1000}.Pack())
	require.ErrorIs(t, err, ErrPacket)
}

// A network counts the packets that its routers discard itself; the NIC raises the interrupt.
func TestRouteErrorInterrupts(t *testing.T) {
	r := newRig(t, 2)
	r.Part(0).RouteError(1)
	require.EqualValues(t, regs.IRQStatusError, r.reg(1, regs.IRQStatus))
	require.Zero(t, r.reg(0, regs.IRQStatus))
}

func TestLentMemory(t *testing.T) {
	r := newRig(t, 1, func(c *Config) { c.Lent = true })
	if !r.Lends() {
		t.Skip("memory cannot be lent on this system")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(1<<16))
	binary.LittleEndian.PutUint64(r.memory(0)[1<<16:], 42)
	require.NoError(t, r.Lend(0, 1<<16, 1<<16, f, 0))
	binary.LittleEndian.PutUint64(r.memory(0)[1<<16+8:], 43)
	var shown [8]byte
	_, err = f.ReadAt(shown[:], 8)
	require.NoError(t, err)
	require.EqualValues(t, 43, binary.LittleEndian.Uint64(shown[:]))

	require.ErrorIs(t, r.Lend(1, 0, 1<<16, f, 0), drivers.ErrConfig)
	require.ErrorIs(t, newRig(t, 1).Lend(0, 0, 1<<16, f, 0), drivers.ErrNotSupported)
}

func TestParams(t *testing.T) {
	p := RTL()
	text, err := p.Text()
	require.NoError(t, err)
	again, err := ParseParams(text)
	require.NoError(t, err)
	require.Equal(t, p, again)
	for _, f := range again.Fields() {
		f.Set(f.Value() + 1)
	}
	require.Equal(t, p.NIC.HostRead+1, again.NIC.HostRead)
	require.Equal(t, p.Network.LocalCredit+1, again.Network.LocalCredit)

	file := filepath.Join(t.TempDir(), "params.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	read, err := ReadParams(file)
	require.NoError(t, err)
	require.Equal(t, p, read)
	_, err = ReadParams(file + ".missing")
	require.ErrorIs(t, err, drivers.ErrConfig)
}

func TestWrongParams(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no JSON", "x", "expected what nicloop calibrate writes"},
		{"unknown field", `{"nic":{"wings":2}}`, "wings"},
		{"missing", `{}`, "nic.clear is 0: expected a number 1..65535"},
	} {
		_, err := ParseParams([]byte(tc.text))
		require.ErrorContains(t, err, tc.want)
		file := filepath.Join(t.TempDir(), "params.json")
		require.NoError(t, os.WriteFile(file, []byte(tc.text), 0o600))
		_, err = ReadParams(file)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, file, "the message names the file")
	}
}

// A Part runs by itself up to the window that it was opened for, and all stand at the same cycle
// when they are joined.
func TestPartRunsUpToItsWindow(t *testing.T) {
	r := newPair(t)
	p := r.Partitions()[0]
	first, past := p.Nodes()
	require.Equal(t, [2]int{0, 2}, [2]int{first, past})
	before := p.Events()
	r.send(0, 3, 1, 5, nil)
	require.NotEqual(t, drivers.Forever, p.NextEvent())
	r.Part(0).perform(p.NextEvent())
	require.Greater(t, p.Events(), before)
	r.idle()
}

func TestShareOfNodes(t *testing.T) {
	for _, tc := range []struct {
		parts, nodes int
		cuts         []int
		want         [][2]int
	}{
		{3, 8, nil, [][2]int{{0, 3}, {3, 6}, {6, 8}}},
		{2, 5, []int{0, 1, 5}, [][2]int{{0, 1}, {1, 5}}},
	} {
		m := New(Config{Info: drivers.Info{Nodes: tc.nodes}, Memory: 4096, Parts: tc.parts, Cuts: tc.cuts, Lookahead: 9})
		var got [][2]int
		for _, p := range m.Partitions() {
			first, past := p.Nodes()
			got = append(got, [2]int{first, past})
		}
		require.Equal(t, tc.want, got)
		require.EqualValues(t, 9, m.Lookahead())
	}
}

// The free lists of parts share packets: a number names the same packet in all, and a part that
// only receives hands packets back to those that send.
func TestFreeListsShare(t *testing.T) {
	m := New(Config{Info: drivers.Info{Nodes: 2}, Memory: 4096, Parts: 2})
	a, b := &m.parts[0].packets, &m.parts[1].packets
	for range 20 * heap {
		h := a.get()
		b.look()
		require.Same(t, a.at(h), b.at(h))
		b.put(h)
	}
	require.LessOrEqual(t, len(a.chunks), 6, "packets go round")
	require.Zero(t, a.used+b.used)
}
