package velo

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
	"github.com/stretchr/testify/require"
)

// fakeNIC answers registers from memory and turns every line that is sent into
// a slot of its own mailbox, as if the peer had sent it.
type fakeNIC struct {
	mem   []byte
	regs  map[uint32]uint64
	slots int
	seq   uint32
	from  Addr
	sent  int
	last  regs.Pio
	echo  bool
}

func newFake(slots int, from Addr) *fakeNIC {
	return &fakeNIC{mem: make([]byte, 1<<16), slots: slots, from: from, regs: map[uint32]uint64{
		regs.Magic: regs.MagicValue, regs.Version: regs.VersionValue, regs.DescHash: regs.DescHashValue,
		regs.MboxRP(0): 0, regs.MboxCtrl(0): 0,
	}}
}

func (f *fakeNIC) ReadReg(off uint32) (uint64, error) {
	if off == regs.VELOWindow(0) { // every line has left
		return uint64(uint16(f.sent)), nil
	}
	return f.regs[off], nil
}
func (f *fakeNIC) WriteReg(off uint32, v uint64) error { f.regs[off] = v; return nil }
func (f *fakeNIC) Memory() []byte                      { return f.mem }
func (f *fakeNIC) Segments() []drivers.Segment         { return nil }
func (f *fakeNIC) Capabilities() drivers.Capabilities  { return drivers.CanPIO | drivers.CanDMA }
func (f *fakeNIC) Await(drivers.Cause) (drivers.Waiter, error) {
	return nil, drivers.ErrNotSupported
}

func (f *fakeNIC) WritePIO(off uint32, line []byte) error {
	f.sent++
	f.last = regs.Pio(off)
	if !f.echo {
		return nil
	}
	n := int(f.last.Length())
	credits := uint16(0)
	if f.last.Piggyback() {
		credits = uint16(line[n]) | uint16(line[n+1])<<8
	}
	return f.deliver(f.last.Kind(), line[:n], f.last.Piggyback(), credits)
}

func (f *fakeNIC) deliver(kind regs.Kind, payload []byte, piggyback bool, credits uint16) error {
	f.seq++
	at := int(f.seq-1) % f.slots * regs.SlotBytes
	return mailbox.WriteSlot(f.mem[at:at+regs.SlotBytes], mailbox.Header{
		SrcNode: uint16(f.from.Node), SrcVPID: uint8(f.from.VPID), Length: uint16(len(payload)),
		Kind: kind, Piggyback: piggyback, Seq: f.seq,
	}, payload, credits)
}

var two = []Addr{{0, 0}, {1, 0}}

func open(t *testing.T, cfg Config) (*Endpoint, *fakeNIC) {
	slots, err := cfg.MailboxSlots(len(two))
	require.NoError(t, err)
	f := newFake(slots, two[1])
	e, err := Open(f, 0, 0, NewDirectory(two), cfg)
	require.NoError(t, err)
	return e, f
}

func TestOpenRefusesStrangers(t *testing.T) {
	cfg := Config{Flow: None, Slots: 4}
	for name, c := range map[string]struct {
		off  uint32
		v    uint64
		want string
	}{
		"dead link": {regs.Magic, ^uint64(0), "all ones"},
		"no NIC":    {regs.Magic, 0xdead, "MAGIC is 0xdead"},
		"version":   {regs.Version, 99, "VERSION is 0x63"},
		"layout":    {regs.DescHash, 1, "DESC_HASH is 0x1"},
	} {
		f := newFake(4, two[1])
		f.regs[c.off] = c.v
		_, err := Open(f, 0, 0, NewDirectory(two), cfg)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := Open(newFake(4, two[1]), 8, 0, NewDirectory(two), cfg)
	require.ErrorIs(t, err, drivers.ErrConfig, "misaligned mailbox")
}

func TestConfigErrors(t *testing.T) {
	for want, cfg := range map[string]Config{
		"at least 1":           {Flow: None, Slots: 0},
		"expected none":        {Flow: "fast", Slots: 4},
		"Eq. 2":                {Flow: Static, Slots: 3, CreditSlots: 2},
		"0 credit slots per p": {Flow: Dynamic, Slots: 3},
	} {
		_, err := cfg.MailboxSlots(4)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}

// TestCreditsRunOut: FC paper, section 5.2: a sender stops when its quota is
// spent, and goes on with the credits of a credit packet.
func TestCreditsRunOut(t *testing.T) {
	e, f := open(t, Config{Flow: Static, Slots: 22, CreditSlots: 2})
	for range 20 {
		require.NoError(t, e.Send(1, []byte("x")))
	}
	require.ErrorIs(t, e.Send(1, []byte("x")), ErrTryAgain)
	require.Equal(t, 20, f.sent)
	require.NoError(t, f.deliver(mailbox.Credit, []byte{7, 0}, false, 0))
	var p Packet
	ok, err := e.Poll(&p)
	require.NoError(t, err)
	require.False(t, ok, "control packets never show")
	require.Equal(t, 7, e.Credits(1))
	require.NoError(t, e.Send(1, []byte("x")))
}

// TestReadPointerBeforeCredits: a credit stands for a free slot, so the NIC
// hears of the slot before the credit packet leaves.
func TestReadPointerBeforeCredits(t *testing.T) {
	e, f := open(t, Config{Flow: Static, Slots: 22, CreditSlots: 2})
	var p Packet
	for i := range 7 { // the threshold of Figure 3
		require.NoError(t, f.deliver(mailbox.Data, []byte{byte(i)}, false, 0))
		ok, err := e.Poll(&p)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, []byte{byte(i)}, p.Payload)
		require.Equal(t, 1, p.From)
	}
	require.Equal(t, regs.KindCredit, f.last.Kind())
	require.EqualValues(t, 7, f.regs[regs.MboxRP(0)])
}

// TestReadPointerBeforePaidData: the peer takes the data that a credit packet paid for as a sign
// that the packet has left its credit slot (FC paper, section 5.2), so the NIC hears of that slot
// first.
func TestReadPointerBeforePaidData(t *testing.T) {
	e, f := open(t, Config{Flow: Static, Slots: 22, CreditSlots: 2})
	for range 7 {
		require.NoError(t, e.Send(1, []byte("x")))
	}
	require.NoError(t, f.deliver(mailbox.Credit, []byte{7, 0}, false, 0))
	var p Packet
	_, more, err := e.Take(&p)
	require.NoError(t, err)
	require.True(t, more)
	require.Zero(t, f.regs[regs.MboxRP(0)], "not told of each packet by itself")
	require.NoError(t, e.Send(1, []byte("x")))
	require.EqualValues(t, 1, f.regs[regs.MboxRP(0)])
}

// TestReopen: a mailbox that is opened again does not take the packets of its last life for new
// ones.
func TestReopen(t *testing.T) {
	cfg := Config{Flow: Static, Slots: 22, CreditSlots: 2}
	_, f := open(t, cfg)
	require.NoError(t, f.deliver(mailbox.Data, []byte("old"), false, 0))
	f.regs[regs.MboxWP(0)] = 1
	e, err := Open(f, 0, 0, NewDirectory(two), cfg)
	require.NoError(t, err)
	var p Packet
	got, err := e.Poll(&p)
	require.NoError(t, err)
	require.False(t, got, "%q", p.Payload)
	f.seq = 0
	require.NoError(t, f.deliver(mailbox.Data, []byte("new"), false, 0))
	got, err = e.Poll(&p)
	require.NoError(t, err)
	require.True(t, got)
	require.Equal(t, "new", string(p.Payload))
}

func TestRoom(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, 6: true, 7: false, 8: false, 44: true, 48: false, 54: true, 55: false, 56: false} {
		require.Equal(t, want, roomFor(n), "%d bytes", n)
	}
}

func TestBadPackets(t *testing.T) {
	e, f := open(t, Config{Flow: None, Slots: 8})
	require.ErrorIs(t, e.Send(1, make([]byte, 57)), drivers.ErrConfig)
	f.from = Addr{5, 3}
	require.NoError(t, f.deliver(mailbox.Data, nil, false, 0))
	var p Packet
	_, err := e.Poll(&p)
	var slot *SlotError
	require.ErrorAs(t, err, &slot)
	require.Equal(t, 5, slot.Node)
	require.ErrorContains(t, err, "no process of this world")
}

func TestNoAllocationPerPacket(t *testing.T) {
	for _, flow := range []Flow{None, Static, Dynamic} {
		e, f := open(t, Config{Flow: flow, Slots: 40, CreditSlots: 2, Piggyback: true})
		f.echo = true
		payload := make([]byte, 44)
		var p Packet
		allocs := testing.AllocsPerRun(200, func() {
			if err := e.Send(1, payload); err != nil {
				t.Fatal(err)
			}
			for {
				ok, err := e.Poll(&p)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					return
				}
			}
		})
		require.Zero(t, allocs, flow)
	}
}

// Packets that were dropped before a slot are told once; then its packet is there.
func TestOverflowIsTold(t *testing.T) {
	e, f := open(t, Config{Flow: None, Slots: 4})
	slot := f.mem[:regs.SlotBytes]
	require.NoError(t, mailbox.WriteSlot(slot, mailbox.Header{SrcNode: 1, Length: 4, Overflow: true, Seq: 1}, []byte("late"), 0))
	var p Packet
	_, err := e.Poll(&p)
	var over *OverflowError
	require.ErrorAs(t, err, &over)
	ok, err := e.Poll(&p)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "late", string(p.Payload))
}

// Closing waits until what was sent has left, and no longer.
func TestClose(t *testing.T) {
	e, f := open(t, Config{Flow: None, Slots: 4})
	require.NoError(t, e.Close())
	require.Zero(t, f.regs[regs.MboxCtrl(0)])
	f.regs[regs.Level(0)] = 1 << regs.LevelLines.LSB()
	require.ErrorIs(t, e.Close(), process.ErrNotDrained)
	f.regs[regs.Level(0)] = 3 << regs.LevelDescriptors.LSB()
	require.NoError(t, e.Close(), "descriptors are not VELO's")
}

// A NIC whose sends can name 64 nodes is not opened for a world with others; one of a larger
// machine is asked for their whole numbers.
func TestNodesThatCannotBeNamed(t *testing.T) {
	for _, c := range []struct {
		nodes uint64
		want  string
	}{{2, "a world with node 70: this device has nodes 0 to 1"}, {64, "nodes 0 to 63"}, {71, ""}} {
		f := newFake(64, Addr{70, 3})
		f.regs[regs.Params] = c.nodes << regs.ParamsNodes.LSB()
		e, err := Open(f, 0, 0, NewDirectory([]Addr{{0, 0}, {70, 3}}), Config{Flow: None, Slots: 4})
		if c.want != "" {
			require.ErrorIs(t, err, drivers.ErrConfig)
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, e.Send(1, []byte("far")))
		_, to := regs.Sent(uint32(f.last))
		require.Equal(t, 70, to)
	}
}
