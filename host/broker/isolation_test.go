package broker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	nicprocess "github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// A tenant is a client that uses one process on each node: a mailbox at offset 0, followed by the
// notification ring for RMA.
type tenant struct {
	t    *testing.T
	sys  drivers.System
	vpid int
	ends [testNodes]*velo.Endpoint
	port [testNodes]*rma.Port
}

const tenantBytes = 1 << 16

func open(t *testing.T, b *Broker, query string) drivers.System {
	t.Helper()
	sys, err := registry.Open(context.Background(), "shared:"+b.cfg.Socket+"?"+query, drivers.Options{MemoryBytes: tenantBytes})
	require.NoError(t, err)
	t.Cleanup(func() { sys.Close() })
	return sys
}

func newTenant(t *testing.T, b *Broker, vpid, domain int) *tenant {
	t.Helper()
	x := &tenant{t: t, vpid: vpid, sys: open(t, b, fmt.Sprintf("claim=0.%d,1.%d&domain=%d&world=%d", vpid, vpid, domain, domain))}
	dir := velo.NewDirectory([]velo.Addr{{Node: 0, VPID: vpid}, {Node: 1, VPID: vpid}})
	for n := range testNodes {
		dev := x.sys.Device(n)
		var err error
		x.ends[n], err = velo.Open(dev, 0, n, dir, velo.Config{Flow: velo.Static, Slots: 8, CreditSlots: 2, Domain: uint16(domain)})
		require.NoError(t, err)
		x.port[n], err = rma.Open(dev, vpid, n, rma.Config{NotiSlots: 64, Outstanding: 4, NotiBase: 1 << 12, ATU: rma.LentATU(dev.(drivers.Tenant)), Domain: uint16(domain)})
		require.NoError(t, err)
	}
	return x
}

// works checks a ping-pong and an RMA get.
func (x *tenant) works() {
	x.t.Helper()
	var p velo.Packet
	for from := range testNodes {
		want := rand.Uint64()
		require.NoError(x.t, x.ends[from].Send(1-from, binary.LittleEndian.AppendUint64(nil, want)))
		require.Eventually(x.t, func() bool {
			ok, err := x.ends[1-from].Poll(&p)
			require.NoError(x.t, err)
			_, err = x.ends[from].Poll(&velo.Packet{}) // receives its credits
			require.NoError(x.t, err)
			return ok
		}, 10*time.Second, 50*time.Microsecond)
		require.Equal(x.t, want, binary.LittleEndian.Uint64(p.Payload))
	}
	want := byte(rand.Int())
	x.sys.Device(1).Memory()[0x8000] = want
	here, err := x.port[0].Register(0x8000, 64, rma.WriteOnly)
	require.NoError(x.t, err)
	there, err := x.port[1].Register(0x8000, 64, rma.ReadWrite)
	require.NoError(x.t, err)
	require.NoError(x.t, x.get(here.NLA(0x8000), there.NLA(0x8000), x.vpid).Err)
	require.Equal(x.t, want, x.sys.Device(0).Memory()[0x8000])
	x.port[0].Release(here)
	x.port[1].Release(there)
}

// get reads 64 bytes of a process on node 1 and waits for completion.
func (x *tenant) get(local, remote rma.NLA, vpid int) (ev rma.Event) {
	x.t.Helper()
	_, err := x.port[0].Get(rma.Peer{Node: 1, VPID: vpid}, local, remote, 64, rma.Completer)
	require.NoError(x.t, err)
	require.Eventually(x.t, func() bool {
		ok, err := x.port[0].Poll(&ev)
		require.NoError(x.t, err)
		return ok && ev.Last
	}, 10*time.Second, 50*time.Microsecond)
	return ev
}

// TestForbidden: a client that accesses a foreign resource is disconnected with a reason, and other
// clients are not affected.
func TestForbidden(t *testing.T) {
	b, sys := serve(t, onIdeal, 8, tenantBytes)
	other := newTenant(t, b, 3, 7)
	base := func(s drivers.System) uint64 { return s.Device(0).Segments()[0].Addr }
	for name, do := range map[string]func(mine drivers.System, dev drivers.Device) error{
		"another's read pointer":      func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.MboxRP(3), 1) },
		"another's switches":          func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.MboxCtrl(3), 0) },
		"another's domain":            func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.PDID(3), 0) },
		"nobody's process":            func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.MboxCtrl(9), 2) },
		"another domain":              func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.PDID(1), 7) },
		"translation tables":          func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.ATUBase(1), 0) },
		"a command of translation":    func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.ATUCommand, 0) },
		"routes":                      func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.Route(1), 0) },
		"the interrupt mask":          func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.IRQMask, 1) },
		"how long it may hold others": func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.Hold(1), HoldForGood) },
		"interrupts of arrivals":      func(_ drivers.System, dev drivers.Device) error { return dev.WriteReg(regs.MboxCtrl(1), 7) },
		"another's window": func(_ drivers.System, dev drivers.Device) error {
			return dev.WritePIO(uint32(regs.PioFields{SrcVPID: 3, DstVPID: 3, DstNode: 1, Length: 8}.Pack()), make([]byte, 8))
		},
		"another's descriptors": func(_ drivers.System, dev drivers.Device) error {
			return dev.WritePIO(regs.Descriptors(3), make([]byte, 24))
		},
		"a mailbox in another's memory": func(_ drivers.System, dev drivers.Device) error { return mailboxAt(dev, base(other.sys), 8) },
		"a mailbox that begins before its own memory": func(mine drivers.System, dev drivers.Device) error {
			return mailboxAt(dev, base(mine)-regs.SlotBytes, 8)
		},
		"a mailbox that leaves its own memory": func(mine drivers.System, dev drivers.Device) error {
			return mailboxAt(dev, base(mine)+tenantBytes-7*regs.SlotBytes, 8)
		},
		"a mailbox that is too large":      func(mine drivers.System, dev drivers.Device) error { return mailboxAt(dev, base(mine), 1<<63) },
		"a mailbox in the broker's tables": func(_ drivers.System, dev drivers.Device) error { return mailboxAt(dev, 0, 8) },
		"a mailbox that moves": func(mine drivers.System, dev drivers.Device) error {
			require.NoError(t, mailboxAt(dev, base(mine), 8))
			return dev.WriteReg(regs.MboxBase(1), 0)
		},
		"a ring outside its memory": func(_ drivers.System, dev drivers.Device) error {
			require.NoError(t, dev.WriteReg(regs.NotiBase(1), base(other.sys)))
			require.NoError(t, dev.WriteReg(regs.NotiSlots(1), 8))
			return dev.WriteReg(regs.NotiCtrl(1), regs.NotiCtrlEnable)
		},
	} {
		mine := open(t, b, "claim=0.1,0.2&domain=9&world=me")
		require.NoError(t, nicprocess.Join(mine.Device(0), 1, 9))
		require.NoError(t, do(mine, mine.Device(0)), name)
		_, err := mine.Device(0).ReadReg(regs.Magic)
		require.ErrorIs(t, err, wire.ErrForbidden, name)
		require.Eventually(t, func() bool { return len(b.ownersOf()) == testNodes }, 10*time.Second, time.Millisecond, name)
	}
	other.works()
	require.Zero(t, sys.Device(0).Memory()[other0(b)], "nobody has written into the broker's memory")
}

// other0 is the offset of a byte at the end of the first tables that is never used.
func other0(b *Broker) uint64 { return b.nodes[0].tables.off + b.nodes[0].tables.n - 1 }

func mailboxAt(dev drivers.Device, addr, slots uint64) error {
	for _, w := range [][2]uint64{{uint64(regs.MboxBase(1)), addr}, {uint64(regs.MboxSlots(1)), slots}} {
		if err := dev.WriteReg(uint32(w[0]), w[1]); err != nil {
			return err
		}
	}
	return dev.WriteReg(regs.MboxCtrl(1), regs.MboxCtrlEnable)
}

// TestForbiddenQuestions: a forbidden request with an answer fails with an error, and the client
// stays connected.
func TestForbiddenQuestions(t *testing.T) {
	b, _ := serve(t, onIdeal, 8, tenantBytes)
	newTenant(t, b, 3, 7)
	mine := open(t, b, "claim=0.1&domain=9&world=me")
	dev := mine.Device(0)
	tables := dev.(drivers.Tenant).Tables()
	for name, ask := range map[string]func() error{
		"another's register": func() error { _, err := dev.ReadReg(regs.MboxWP(3)); return err },
		"a route":            func() error { _, err := dev.ReadReg(regs.Route(0)); return err },
		"no register":        func() error { _, err := dev.ReadReg(0x38); return err },
		"pages for another":  func() error { _, err := tables.Map(3, 0, 4096, 3); return err },
		"pages outside":      func() error { _, err := tables.Map(1, tenantBytes-4096, 8192, 3); return err },
		"pages far outside":  func() error { _, err := tables.Map(1, ^uint64(0)-100, 8192, 3); return err },
		"pages of a node where it has no process": func() error {
			_, err := mine.Device(1).(drivers.Tenant).Tables().Map(1, 0, 1, 3)
			return err
		},
		"to unmap what it has not mapped": func() error { return tables.Unmap(1 << 44) },
		"to forget another's pages":       func() error { return tables.UnmapAll(3) },
		"to wait for others' arrivals":    func() error { _, err := dev.Await(drivers.Cause{Off: tenantBytes, Bytes: 8}); return err },
	} {
		require.ErrorIs(t, ask(), wire.ErrForbidden, name)
	}
	_, err := dev.Await(drivers.Interrupt)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	nla, err := tables.Map(1, 0, 4096, uint8(rma.ReadWrite))
	require.NoError(t, err)
	_, err = tables.Map(1, 0, 4096, 9)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.NoError(t, tables.Unmap(nla))
	require.ErrorIs(t, tables.Unmap(nla), wire.ErrForbidden)
	for range 4*tenantBytes/4096 + 64 {
		if _, err = tables.Map(1, 0, 4096, uint8(rma.ReadWrite)); err != nil {
			break
		}
	}
	require.NoError(t, err)
	_, err = tables.Map(1, 0, 4096, uint8(rma.ReadWrite))
	require.ErrorIs(t, err, drivers.ErrTablesFull, "nobody takes all")
	require.NoError(t, tables.UnmapAll(1))
	_, err = tables.Map(1, 0, 4096, uint8(rma.ReadWrite))
	require.NoError(t, err)
}

// TestDomains: neither pages nor mailboxes of processes in another domain can be reached.
func TestDomains(t *testing.T) {
	b, _ := serve(t, onIdeal, 8, tenantBytes)
	victim, stranger := newTenant(t, b, 3, 7), newTenant(t, b, 4, 9)
	theirs, err := victim.port[1].Register(0x8000, 64, rma.ReadWrite)
	require.NoError(t, err)
	here, err := stranger.port[0].Register(0x8000, 64, rma.ReadWrite)
	require.NoError(t, err)
	copy(victim.sys.Device(1).Memory()[0x8000:], "secret")
	require.Error(t, stranger.get(here.NLA(0x8000), theirs.NLA(0x8000), 3).Err)
	require.NotContains(t, string(stranger.sys.Device(0).Memory()), "secret")
	off := uint32(regs.PioFields{SrcVPID: 4, DstVPID: 3, DstNode: 1, Length: 8}.Pack())
	require.NoError(t, stranger.sys.Device(0).WritePIO(off, []byte("uninvited")[:8]))
	stranger.works()
	require.NotContains(t, string(victim.sys.Device(1).Memory()), "uninvited"[:8])
	victim.works()
}

// TestMemoryIsNobodyElses: a client that keeps its mapping after release cannot see the memory of
// the next owner.
func TestMemoryIsNobodyElses(t *testing.T) {
	b, sys := serve(t, onIdeal, 2, tenantBytes)
	before := newTenant(t, b, 3, 7)
	before.works()
	old := before.sys.Device(1).Memory()
	copy(old[0x9000:], "what the first one left")
	require.NoError(t, before.sys.Close())
	require.Eventually(t, func() bool { return free(b) }, 10*time.Second, time.Millisecond)
	require.NotContains(t, string(sys.Device(1).Memory()), "what the first one left")
	for _, reg := range []uint32{regs.PDID(3), regs.MboxCtrl(3), regs.NotiCtrl(3), regs.Level(3)} {
		v, err := sys.Device(1).ReadReg(reg)
		require.NoError(t, err)
		require.Zero(t, v, regs.Describe(reg))
	}
	now := newTenant(t, b, 3, 7)
	require.Equal(t, before.sys.Device(1).Segments(), now.sys.Device(1).Segments(), "the same addresses")
	require.NotContains(t, string(now.sys.Device(1).Memory()), "what the first one left")
	copy(now.sys.Device(1).Memory()[0x9000:], "what the second one has")
	now.works()
	require.NotContains(t, string(old), "what the second one has")
	require.Contains(t, string(sys.Device(1).Memory()), "what the second one has")
	old[0] = 1 // its own mapping stays valid
}

// TestRefusedStore: a store that the NIC refuses disconnects the client that made it.
func TestRefusedStore(t *testing.T) {
	b, _ := serve(t, onIdeal, 8, tenantBytes)
	other := newTenant(t, b, 3, 7)
	mine := open(t, b, "claim=0.1&domain=9&world=me")
	dev := mine.Device(0)
	require.NoError(t, dev.WritePIO(uint32(regs.PioFields{SrcVPID: 1, Length: 8}.Pack()), make([]byte, 8))) // its window is disabled
	var bus *drivers.BusError
	require.Eventually(t, func() bool {
		_, err := dev.ReadReg(regs.Magic)
		return errors.As(err, &bus)
	}, 10*time.Second, time.Millisecond)
	require.EqualValues(t, 1, regs.Pio(bus.Off).SrcVPID())
	other.works()
}

// TestStrangersFrames: a malformed frame ends its connection, does not affect other clients and
// leaves no resources behind.
func TestStrangersFrames(t *testing.T) {
	b, _ := serve(t, onIdeal, 8, tenantBytes, func(c *Config) { c.Patience = 200 * time.Millisecond })
	other := newTenant(t, b, 3, 7)
	before := files(t)
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		_, err := fmt.Sscan(text, &seed)
		require.NoError(t, err)
	}
	t.Logf("SEED=%d go test -run TestStrangersFrames ./host/broker", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	claim := wire.Frame{Kind: wire.Claim, Data: fmt.Appendf(nil, `{"version":%d,"desc_hash":"%d","processes":[{"node":0,"vpid":1}],"domain":9,"memory":%d}`, wire.Version, regs.DescHashValue, tenantBytes)}
	kinds := "crwpagumnfWVEHX"
	for range 150 {
		c, err := usersock.Dial(context.Background(), b.cfg.Socket, os.Geteuid())
		require.NoError(t, err)
		var bytes []byte
		if r.IntN(4) > 0 {
			bytes = claim.Append(nil)
		}
		for range r.IntN(30) {
			f := wire.Frame{Kind: wire.Kind(kinds[r.IntN(len(kinds))]), Flag: uint8(r.IntN(4)), Node: uint8(r.IntN(3)), VPID: uint8(r.IntN(3)), A: r.Uint64() >> r.IntN(64), B: r.Uint64() >> r.IntN(64)}
			if f.Kind == wire.ReadReg || f.Kind == wire.WriteReg {
				f.A = uint64(regs.MboxBase(1)) + uint64(8*r.IntN(64)) + uint64(r.IntN(2)<<16)
			}
			f.Data = make([]byte, r.IntN(2)*r.IntN(80))
			bytes = f.Append(bytes)
			if r.IntN(40) == 0 {
				bytes[r.IntN(len(bytes))] ^= 1 << r.IntN(8)
			}
		}
		_, _ = c.Write(bytes[:len(bytes)-r.IntN(2)*r.IntN(len(bytes)+1)])
		if r.IntN(2) == 0 {
			_ = c.CloseWrite()
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = io.Copy(io.Discard, c)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "SEED=%d: it is not hung up on", seed)
		}
		c.Close()
	}
	require.Eventually(t, func() bool { return len(b.ownersOf()) == testNodes }, 20*time.Second, time.Millisecond, "SEED=%d", seed)
	require.Eventually(t, func() bool { return files(t) <= before }, 10*time.Second, time.Millisecond, "SEED=%d: files are left open", seed)
	other.works()
	newTenant(t, b, 1, 9).works()
}

// files counts open file descriptors.
func files(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// TestSilentClients: a client that sends no claim, or does not read, is disconnected after a
// timeout.
func TestSilentClients(t *testing.T) {
	b, _ := serve(t, onIdeal, 2, tenantBytes, func(c *Config) { c.Patience = 100 * time.Millisecond })
	c, err := usersock.Dial(context.Background(), b.cfg.Socket, os.Geteuid())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = io.Copy(io.Discard, c)
	require.NoError(t, err, "it is not hung up on")

	deaf, err := usersock.Dial(context.Background(), b.cfg.Socket, os.Geteuid())
	require.NoError(t, err)
	defer deaf.Close()
	claim := wire.Frame{Kind: wire.Claim, Data: fmt.Appendf(nil, `{"version":%d,"desc_hash":"%d","processes":[{"node":0,"vpid":1}],"domain":9,"memory":4096}`, wire.Version, regs.DescHashValue)}
	ask := wire.Frame{Kind: wire.ReadReg, A: uint64(regs.Magic)}
	_, err = deaf.Write(claim.Append(nil))
	require.NoError(t, err)
	require.NoError(t, deaf.SetWriteDeadline(time.Now().Add(10*time.Second)))
	for err == nil {
		_, err = deaf.Write(ask.Append(nil))
	}
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Eventually(t, func() bool { return free(b) }, 10*time.Second, time.Millisecond)
}
