package nic

import (
	"cmp"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// fakeNetwork joins the nodes of one part. A node injects one flit per cycle and source; a packet
// is offered to its destination delay cycles after its last flit, packets of a class in order.
type fakeNetwork struct {
	part      *Part
	delay     drivers.Cycle
	noCredit  [Sources]bool // of these sources nothing may be injected
	ends      []networkEnd
	departed  []departure
	announced int
	routes    map[[2]int]int // port by node and destination
}

type networkEnd struct {
	offered [Sources]bool
	sending [Sources]bool
	done    [Sources]drivers.Cycle
	arrived [regs.VCs][]arrivingPacket
	resume  [regs.VCs]drivers.Cycle
}

type arrivingPacket struct {
	packet uint32
	at     drivers.Cycle
}

// departure records when the first flit of a packet was offered to the network.
type departure struct {
	at     drivers.Cycle
	source Source
	header regs.Header
}

func (f *fakeNetwork) Announce()                                    { f.announced++ }
func (f *fakeNetwork) Offer(node int, s Source)                     { f.ends[node].offered[s] = true }
func (f *fakeNetwork) Credits(node, class int) int                  { return 10 + class }
func (f *fakeNetwork) Route(node, dst, port int)                    { f.routes[[2]int{node, dst}] = port }
func (f *fakeNetwork) RouteErrors(node int) uint64                  { return uint64(7 + node) }
func (f *fakeNetwork) Link(node, link int) (connected, exists bool) { return link == 0, link < 2 }

// Resume concerns packets that were not accepted, and no others.
func (f *fakeNetwork) Resume(node, class int, from drivers.Cycle) {
	e := &f.ends[node]
	e.resume[class] = min(e.resume[class], from)
}

func (f *fakeNetwork) Waiting(node, class int) (flits int) {
	for _, a := range f.ends[node].arrived[class] {
		if a.at <= f.part.Now() {
			flits += f.part.Packet(a.packet).Flits()
		}
	}
	return flits
}

func (f *fakeNetwork) NextEvent(now drivers.Cycle) drivers.Cycle {
	next := drivers.Forever
	for i := range f.ends {
		e := &f.ends[i]
		for s := range Sources {
			switch {
			case e.sending[s]:
				next = min(next, max(e.done[s], now+1))
			case e.offered[s] && !f.noCredit[s]:
				next = min(next, now+1)
			}
		}
		for class, list := range e.arrived {
			if len(list) > 0 {
				next = min(next, max(list[0].at, e.resume[class], now+1))
			}
		}
	}
	return next
}

func (f *fakeNetwork) Step(now drivers.Cycle) {
	for i := range f.ends {
		for class := range regs.VCs {
			f.deliver(now, i, class)
		}
		for s := range Sources {
			f.inject(now, i, s)
		}
	}
}

func (f *fakeNetwork) inject(now drivers.Cycle, node int, s Source) {
	e := &f.ends[node]
	p, ok := f.part.Next(node, s)
	if ok && e.offered[s] && !e.sending[s] && !f.noCredit[s] {
		e.sending[s], e.done[s] = true, now+drivers.Cycle(p.Flits)-1
		f.departed = append(f.departed, departure{now, s, f.part.Packet(p.Packet).Header})
	}
	if !e.sending[s] || e.done[s] > now {
		return
	}
	e.sending[s] = false
	f.arrive(int(p.Dst), s.Class(), p.Packet, now+f.delay)
	f.part.Sent(node, s)
	_, e.offered[s] = f.part.Next(node, s)
}

func (f *fakeNetwork) arrive(node, class int, packet uint32, at drivers.Cycle) {
	to := &f.ends[node]
	to.arrived[class] = append(to.arrived[class], arrivingPacket{packet, at})
	f.part.Coming(packet)
}

func (f *fakeNetwork) deliver(now drivers.Cycle, node, class int) {
	e := &f.ends[node]
	for len(e.arrived[class]) > 0 && max(e.arrived[class][0].at, e.resume[class]) <= now {
		if !f.part.Accepts(node, class, e.arrived[class][0].packet) {
			e.resume[class] = drivers.Forever
			return
		}
		f.part.Collected(node, class, e.arrived[class][0].packet)
		e.arrived[class] = e.arrived[class][1:]
	}
}

// Where the nodes of a rig have their rings, tables and pages: vpid v's mailbox lies at mailboxes +
// v * mailboxStride, and so on.
const (
	mailboxes     = 0x10000
	mailboxStride = 16 * regs.SlotBytes
	rings         = 0x18000
	ringStride    = 16 * regs.NotiBytes
	table0        = 0x20000
	pages0        = 0x40000
	completions   = 0x3000 // where commands of the ATU write
	rigMemory     = 1 << 20
)

// rig is a machine on a fakeNetwork, past the cycles in which its tables are cleared.
type rig struct {
	*Machine
	t    *testing.T
	net  *fakeNetwork
	stop drivers.Stop
}

func newRig(t *testing.T, nodes int, change ...func(*Config)) *rig {
	cfg := Config{
		Info:    drivers.Info{Nodes: nodes, Dims: [3]int{nodes, 1, 1}},
		VCDepth: 16, Ports: 3, Memory: rigMemory, Timing: RTL().NIC,
	}
	for _, f := range change {
		f(&cfg)
	}
	r := &rig{Machine: New(cfg), t: t}
	r.net = &fakeNetwork{part: r.Part(0), delay: 5, ends: make([]networkEnd, nodes), routes: map[[2]int]int{}}
	r.Connect(r.net)
	r.run(100)
	return r
}

// openProcess gives a process domain 1 and switches its mailbox, ring and windows on.
func (r *rig) openProcess(node int, vpid uint8) {
	r.set(node, regs.PDID(vpid), 1)
	r.openMailbox(node, vpid, 16)
	r.openRing(node, vpid, 16)
}

func (r *rig) openMailbox(node int, vpid uint8, slots uint64) {
	r.set(node, regs.MboxBase(vpid), mailboxes+uint64(vpid)*mailboxStride)
	r.set(node, regs.MboxSlots(vpid), slots)
	r.set(node, regs.MboxCtrl(vpid), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
}

func (r *rig) openRing(node int, vpid uint8, entries uint64) {
	r.set(node, regs.NotiBase(vpid), rings+uint64(vpid)*ringStride)
	r.set(node, regs.NotiSlots(vpid), entries)
	r.set(node, regs.NotiCtrl(vpid), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
}

// openPages gives a node table 0 with 16 pages of 4 KB, which belong to a process.
func (r *rig) openPages(node int, owner uint8) {
	for page := range uint64(16) {
		r.mapPage(node, page, owner, regs.ATURightsRw)
	}
	r.set(node, regs.ATUBase(0), table0)
	r.set(node, regs.ATUPages(0), 16)
}

func (r *rig) mapPage(node int, page uint64, owner uint8, rights regs.ATURights) {
	e := regs.ATUEntryFields{Rights: rights, VPID: owner, Page: pages0>>12 + page}.Pack()
	binary.LittleEndian.PutUint64(r.memory(node)[table0+8*page:], uint64(e))
}

// set writes a register and lets the write take effect.
func (r *rig) set(node int, off uint32, v uint64) {
	r.PostReg(node, r.Now(), off, v)
	r.run(r.Now() + 8)
}

func (r *rig) run(deadline drivers.Cycle) {
	r.t.Helper()
	require.NoError(r.t, r.Run(deadline, &r.stop))
}

// settle runs until nothing moves any more.
func (r *rig) settle() {
	r.t.Helper()
	r.run(drivers.Forever)
	require.True(r.t, r.stop.Quiet)
}

// idle runs until nothing moves and nothing is buffered.
func (r *rig) idle() {
	r.t.Helper()
	r.settle()
	require.True(r.t, r.stop.Idle)
}

func (r *rig) reg(node int, off uint32) uint64 {
	r.t.Helper()
	v, err := r.Device(node).ReadReg(off)
	require.NoError(r.t, err)
	return v
}

func (r *rig) memory(node int) []byte { return r.Device(node).Memory() }

func (r *rig) word(node int, addr uint64) uint64 {
	return binary.LittleEndian.Uint64(r.memory(node)[addr:])
}

// send posts a whole line of VELO.
func (r *rig) send(src int, srcVPID uint8, dst int, dstVPID uint8, payload []byte) {
	off := regs.PioFields{Length: uint8(len(payload)), DstNode: uint8(dst), DstVPID: dstVPID, SrcVPID: srcVPID}.Pack()
	r.PostPIO(src, r.Now(), uint32(off), payload)
}

func (r *rig) slot(node int, vpid uint8, i int) (regs.SlotFields, []byte) {
	at := mailboxes + int(vpid)*mailboxStride + i*regs.SlotBytes
	mem := r.memory(node)[at : at+regs.SlotBytes]
	return regs.Slot(binary.LittleEndian.Uint64(mem[regs.SlotHdrOff:])).Fields(), mem[:regs.SlotHdrOff]
}

// describe posts an RMA descriptor of a process.
func (r *rig) describe(node int, vpid uint8, d regs.RMADescFields, w1, w2 uint64) {
	r.PostPIO(node, r.Now(), regs.Descriptors(vpid), quadwords(uint64(d.Pack()), w1, w2))
}

func quadwords(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// notification reads an entry of a process's ring: its first quadword, and the fields of the
// second.
func (r *rig) notification(node int, vpid uint8, i uint64) (uint64, regs.RMANotiFields) {
	at := rings + uint64(vpid)*ringStride + i*regs.NotiBytes
	return r.word(node, at), regs.RMANoti(r.word(node, at+8)).Fields()
}

// nla is an address in the pages of table 0.
func nla(offset uint64) uint64 { return uint64(regs.NLAFields{Offset: offset}.Pack()) }

// forge sends a packet that no NIC of the rig would: a network without CRC would deliver it.
func (r *rig) forge(node, class int, h regs.HeaderFields, s stamp, words ...uint64) {
	packet, err := r.net.part.Receive(h.Pack())
	require.NoError(r.t, err)
	p := r.net.part.Packet(packet)
	p.SetTail(uint64(s.tail()))
	for i, w := range words {
		p.SetWord(i, w)
	}
	r.net.arrive(node, class, packet, r.Now()+1)
}

// lost runs until nothing moves and returns the first error that Run reported on the way.
func (r *rig) lost() (err error) {
	for range 10 {
		if e := r.Run(drivers.Forever, &r.stop); e != nil {
			err = cmp.Or(err, e)
		} else if r.stop.Quiet {
			return err
		}
	}
	r.t.Fatal("the rig does not become quiet")
	return err
}

// traceLog keeps trace events.
type traceLog struct{ events []drivers.TraceEvent }

func (l *traceLog) Trace(events []drivers.TraceEvent) error {
	l.events = append(l.events, events...)
	return nil
}
