package velo

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/stall"
	"github.com/nicloop/nicloop/mailbox"
)

// ErrTryAgain: the flow control has no credit for the destination, or the NIC has no free entry for
// another line of this process. Call Poll, then try again.
var ErrTryAgain = errors.New("velo: no credit or no free entry to send, try again")

// A Packet is a data packet taken out of the mailbox.
type Packet struct {
	From    int // rank
	Payload []byte
}

// Stats are the packet counters of an endpoint.
type Stats struct {
	Sent, Received uint64 // data packets
	Posted, Taken  uint64 // packets of all kinds
	Flow           mailbox.Stats
}

// An Endpoint is one process's end of VELO. The fields that every packet needs come first, to share
// cache lines: in a large world they are evicted between two packets.
type Endpoint struct {
	ring   mailbox.Ring
	rpReg  uint32
	rpDone uint32 // read pointer last written to the NIC
	lazy   uint32 // consumed packets after which the read pointer is written at the latest
	vpid   uint8
	// creditTaken: a credit packet was consumed since the read pointer was last written.
	creditTaken bool
	overflow    uint32 // sequence number behind the overflow last reported
	dir         *Directory
	flow        mailbox.Flow
	dev         drivers.Device
	window      drivers.Window
	stall       stall.Watch
	counts
	// credited: peers for which Send found no credit and that have credits again.
	credited []int
	line     [regs.VELOPayload]byte // line being sent
	in       [regs.VELOPayload]byte // payload that Poll returned last
	refused  []bool                 // by peer: Send found no credit
	self     int
	kind     Flow
}

type counts struct{ sent, received, posted, taken uint64 }

// Open opens the endpoint of process self. Its mailbox starts at offset base of the node's memory
// and must lie in one segment. Every endpoint of a world must be open before one of them sends.
func Open(dev drivers.Device, base uint64, self int, dir *Directory, cfg Config) (*Endpoint, error) {
	procs := len(dir.addrs)
	slots, err := cfg.MailboxSlots(procs)
	if err != nil {
		return nil, err
	}
	flow, err := newFlow(cfg, procs, self)
	if err != nil {
		return nil, err
	}
	mem, size := dev.Memory(), uint64(slots)*regs.SlotBytes
	if base%regs.SlotBytes != 0 || base+size > uint64(len(mem)) {
		return nil, fmt.Errorf("%w: mailbox of %d slots at 0x%x: expected %d-byte alignment inside %d bytes of memory",
			drivers.ErrConfig, slots, base, regs.SlotBytes, len(mem))
	}
	ring, err := mailbox.NewRing(mem[base:base+size], slots)
	if err != nil {
		return nil, err
	}
	vpid := uint8(dir.addrs[self].VPID)
	e := &Endpoint{
		stall: stall.NewWatch(dev),
		dev:   dev, self: self, vpid: vpid, dir: dir, kind: cfg.Flow, flow: flow,
		ring: *ring, rpReg: regs.MboxRP(vpid), lazy: uint32(min(32, max(slots/4, 1))),
		refused: make([]bool, procs), credited: make([]int, 0, procs),
	}
	if err := e.enable(base, uint64(slots), cfg.Domain); err != nil {
		return e, err
	}
	e.window = drivers.OpenWindow(dev, vpid)
	return e, nil
}

// enable checks that the NIC matches this library and enables the mailbox and the send window.
func (e *Endpoint) enable(base, slots uint64, domain uint16) error {
	if err := errors.Join(CheckDevice(e.dev), e.dir.check(e.dev)); err != nil {
		return err
	}
	v := e.vpid
	addr, err := drivers.Address(e.dev, base, slots*regs.SlotBytes)
	if err != nil {
		return err
	}
	if err := process.Disable(e.dev, regs.MboxCtrl(v), regs.MboxCtrlBusy); err != nil {
		return err
	}
	if err := process.Join(e.dev, v, domain); err != nil {
		return err
	}
	if err := e.zeroSlots(base, slots); err != nil {
		return err
	}
	ctrl := regs.MboxCtrlEnable | regs.MboxCtrlWindow
	for _, w := range []struct {
		off uint32
		v   uint64
	}{
		{regs.MboxBase(v), addr}, {regs.MboxSlots(v), slots}, {regs.MboxCtrl(v), ctrl},
	} {
		if err := e.dev.WriteReg(w.off, w.v); err != nil {
			return err
		}
	}
	// Reading back waits until the writes have arrived.
	got, err := e.dev.ReadReg(regs.MboxCtrl(v))
	if got &^= regs.MboxCtrlBusy; err == nil && got != ctrl {
		err = fmt.Errorf("velo: MBOX_CTRL[%d] reads 0x%x after writing 0x%x", v, got, ctrl)
	}
	return err
}

// zeroSlots zeroes the ring if this process number had a mailbox before. Sequence numbers restart
// at 1, so a slot of the old mailbox could look like a new packet. Memory that no mailbox has
// written is not touched, because it may be large.
func (e *Endpoint) zeroSlots(base, slots uint64) error {
	written, err := e.dev.ReadReg(regs.MboxWP(e.vpid))
	if err == nil && written != 0 {
		clear(e.dev.Memory()[base:][:slots*regs.SlotBytes])
	}
	return err
}

// CheckDevice verifies that a NIC responds and implements this version of the register and packet
// description.
func CheckDevice(dev drivers.Device) error {
	for _, c := range []struct {
		name string
		off  uint32
		want uint64
	}{{"MAGIC", regs.Magic, regs.MagicValue}, {"VERSION", regs.Version, regs.VersionValue},
		{"DESC_HASH", regs.DescHash, regs.DescHashValue}} {
		got, err := dev.ReadReg(c.off)
		switch {
		case err != nil:
			return err
		case got == ^uint64(0):
			return fmt.Errorf("%w: %s reads all ones: the link to the device is dead", drivers.ErrPeerDied, c.name)
		case got != c.want:
			return fmt.Errorf("%w: %s is 0x%x, this nicloop needs 0x%x: load a matching bitstream or use the matching release", drivers.ErrConfig, c.name, got, c.want)
		}
	}
	return nil
}

// Close closes the endpoint. All its lines must have reached the NIC. Packets in flight leave, none
// arrives any more, and the hardware no longer writes to the mailbox. The process keeps its domain
// until [process.Leave].
func (e *Endpoint) Close() error {
	return process.DisableAndDrain(e.dev, e.vpid, regs.MboxCtrl(e.vpid), regs.MboxCtrlBusy, regs.LevelLines.Mask())
}

// Credited returns one peer that Send refused and for which there are credits again; ok is false
// when there is no further one.
func (e *Endpoint) Credited() (peer int, ok bool) {
	n := len(e.credited)
	if n == 0 {
		return 0, false
	}
	peer = e.credited[n-1]
	e.credited = e.credited[:n-1]
	return peer, true
}

// Near returns the memory that every packet of an endpoint touches, for prefetching.
func (e *Endpoint) Near() []cache.Area {
	list := []cache.Area{cache.Of(e)}
	if e.flow != nil {
		list = append(list, cache.At(mailbox.Near(e.flow)))
	}
	return list
}

// MaxPosts is the maximum number of lines that Send or Take posts: one packet and the control
// packets of the flow control.
const MaxPosts = 1 + mailbox.MaxPending

// maxPosts is MaxPosts for this endpoint, which may have no flow control.
func (e *Endpoint) maxPosts() int {
	if e.flow == nil {
		return 1
	}
	return MaxPosts
}

// Send sends payload, at most 56 bytes, to peer.
func (e *Endpoint) Send(peer int, payload []byte) error {
	if len(payload) > regs.VELOPayload {
		return fmt.Errorf("%w: a VELO packet of %d bytes: at most %d", drivers.ErrConfig, len(payload), regs.VELOPayload)
	}
	if ok, err := e.window.Room(e.maxPosts()); !ok || err != nil {
		return cmp.Or(err, ErrTryAgain)
	}
	var g mailbox.Grant
	if e.flow != nil {
		if g = e.flow.Send(peer, roomFor(len(payload))); !g.OK {
			e.refused[peer] = true
			if err := e.sendControl(); err != nil {
				return err
			}
			return ErrTryAgain
		}
		// The peer infers from our data that its credit packets have left their slots
		// (mailbox/design.md: "the credit region never overflows"). The read pointer must therefore
		// be written before the data are sent.
		if g.Piggyback || e.creditTaken {
			e.returnSlots()
		}
	}
	e.sent++
	if err := e.post(peer, mailbox.Data, payload, g.Piggyback, g.Credits); err != nil {
		return err
	}
	return e.sendControl()
}

// roomFor reports whether two credit bytes fit without another quadword: piggybacking must not
// lengthen the packet. Therefore a message of 2 KB, whose last packet holds 48 bytes, carries no
// credits, and one of 2044 bytes does (FC paper, 5.4).
func roomFor(n int) bool { return (n+7)/8 == (n+9)/8 && n > 0 }

func (e *Endpoint) post(peer int, kind mailbox.Kind, payload []byte, piggyback bool, credits uint16) error {
	dst := e.dir.addrs[peer]
	f := regs.PioFields{
		SrcVPID: e.vpid, DstVPID: uint8(dst.VPID),
		Kind: regs.Kind(kind), Length: uint8(len(payload)), Piggyback: piggyback,
	}
	if piggyback {
		n := copy(e.line[:], payload)
		binary.LittleEndian.PutUint16(e.line[n:], credits)
		payload = e.line[:n+2]
	}
	e.posted++
	return e.window.Post(f.Pack().To(dst.Node), payload)
}

// sendControl sends the pending control packets of the flow control.
func (e *Endpoint) sendControl() error {
	if e.flow == nil {
		return nil
	}
	for {
		c, ok := e.flow.Next()
		if !ok {
			return nil
		}
		e.returnSlots()
		var body []byte
		if c.Kind != mailbox.CreditRequest {
			body = binary.LittleEndian.AppendUint16(e.line[:0], c.Credits)
		}
		if err := e.post(c.To, c.Kind, body, false, 0); err != nil {
			return err
		}
	}
}

// returnSlots writes the read pointer of the mailbox to the NIC. This must precede every packet
// that returns credits, because a credit stands for a free slot. It must also precede data that a
// received credit packet paid for, because the peer then sends the next credit packet into the same
// slot.
func (e *Endpoint) returnSlots() {
	if c := e.ring.Consumed(); c != e.rpDone {
		e.rpDone, e.creditTaken = c, false
		// The NIC never refuses a write to the process's own read pointer page.
		_ = e.dev.WriteReg(e.rpReg, uint64(c))
	}
}

// Poll takes the next data packet out of the mailbox, if there is one.
func (e *Endpoint) Poll(pkt *Packet) (bool, error) {
	for {
		if data, more, err := e.Take(pkt); data || !more || err != nil {
			return data, err
		}
	}
}

// Take takes the next packet out of the mailbox. data reports whether it was a data packet; after a
// control packet there may be more. Poll calls Take until it finds data or an empty mailbox.
func (e *Endpoint) Take(pkt *Packet) (data, more bool, err error) {
	s, ok := e.ring.Peek()
	if ok && e.flow != nil { // the packet may trigger control packets, which need room; the window drains without this process
		if ok, err = e.window.Room(MaxPosts); err != nil {
			return false, false, err
		}
	}
	if !ok {
		e.returnSlots()
		if err := e.stall.Empty(); err != nil {
			return false, false, err
		}
		return false, false, e.window.Idle()
	}
	data, err = e.take(s, pkt)
	return data, true, err
}

// checkEvery is the number of packets between two checks of the flow control's invariants. A check
// visits every peer; at this interval its cost is negligible, and the packet that broke an
// invariant is still recent.
const checkEvery = 1024

// take consumes slot s at the head of the mailbox and reports whether it was a data packet.
func (e *Endpoint) take(s mailbox.Slot, pkt *Packet) (bool, error) {
	from := e.dir.rankOf(s.Header)
	if s.Err != nil || from < 0 {
		return false, &SlotError{Self: e.self, Node: int(s.SrcNode), VPID: int(s.SrcVPID), Err: s.Err}
	}
	if from == e.self && e.flow != nil { // a process has no credits for itself
		return false, fmt.Errorf("velo: rank %d: %w", e.self, peererror.BadField(from, "source", "this process", "another process of the world"))
	}
	if s.Overflow && e.overflow != s.Seq { // report it once; the next call returns the packet
		e.overflow = s.Seq
		return false, &OverflowError{Self: e.self}
	}
	data := s.Kind == mailbox.Data
	if data {
		pkt.From = from
		pkt.Payload = e.in[:copy(e.in[:], s.Payload)]
		e.received++
	}
	e.ring.Advance()
	e.taken++
	if e.flow != nil {
		e.creditTaken = e.creditTaken || s.Kind == mailbox.Credit
		if err := e.flow.Retrieve(mailbox.Retrieved{From: from, Kind: s.Kind, Piggyback: s.Piggyback, Credits: s.Credits}); err != nil {
			return false, fmt.Errorf("velo: rank %d: %w", e.self, err)
		}
		if s.Credits > 0 && e.refused[from] && e.flow.Credits(from) > 0 {
			e.refused[from] = false
			e.credited = append(e.credited, from)
		}
		if err := e.sendControl(); err != nil {
			return false, err
		}
		if e.taken%checkEvery == 0 {
			if err := e.Check(); err != nil {
				return false, err
			}
		}
	}
	if e.ring.Consumed()-e.rpDone >= e.lazy {
		e.returnSlots()
	}
	return data, nil
}

// An OverflowError reports that packets were dropped: the mailbox was full for longer than it may
// stall other processes (register HOLD). It precedes the first packet that arrived afterwards,
// which the next Take or Poll returns. The credits of the flow control are wrong from then on.
type OverflowError struct{ Self int }

func (e *OverflowError) Error() string {
	return fmt.Sprintf("velo: rank %d: packets were dropped: its mailbox was full for longer than it may hold others", e.Self)
}

// A SlotError reports a packet in the mailbox that no process of this world can have sent.
type SlotError struct {
	Self, Node, VPID int
	Err              error // nil: the source is unknown
}

func (e *SlotError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("velo: rank %d: packet from node %d VPID %d, where no process of this world lives", e.Self, e.Node, e.VPID)
	}
	return fmt.Sprintf("velo: rank %d: %v", e.Self, e.Err)
}

func (e *SlotError) Unwrap() error { return e.Err }

// Taken returns the number of packets of all kinds taken out of the mailbox.
func (e *Endpoint) Taken() uint64 { return e.taken }

// Controls returns the number of control packets sent and received.
func (e *Endpoint) Controls() uint64 {
	return e.posted - e.sent + e.taken - e.received
}

// Flow returns the flow control in use; a process that is alone in its world has None.
func (e *Endpoint) Flow() Flow {
	if e.flow == nil {
		return None
	}
	return e.kind
}

// Stats returns the endpoint's counters.
func (e *Endpoint) Stats() Stats {
	s := Stats{Sent: e.sent, Received: e.received, Posted: e.posted, Taken: e.taken}
	if e.flow != nil {
		s.Flow = e.flow.Stats()
	}
	return s
}

// Credits returns the number of data packets that can be sent to peer immediately, or -1 without
// flow control.
func (e *Endpoint) Credits(peer int) int {
	if e.flow == nil {
		return -1
	}
	return e.flow.Credits(peer)
}

// Describe formats the flow control's state for a peer on one line.
func (e *Endpoint) Describe(peer int) string {
	if e.flow == nil {
		return "no flow control"
	}
	return e.flow.Describe(peer)
}

// Check verifies the invariants of the flow control for all peers.
func (e *Endpoint) Check() error {
	if e.flow == nil {
		return nil
	}
	if err := e.flow.Check(); err != nil {
		return fmt.Errorf("rank %d: %w", e.self, err)
	}
	return nil
}

// CheckPair verifies that the sender owns exactly the credits that the receiver has granted it. No
// packet may be in flight between the two.
func CheckPair(sender, receiver *Endpoint) error {
	if receiver.flow == nil {
		return nil
	}
	owns, granted := sender.flow.Credits(receiver.self), receiver.flow.Granted(sender.self)
	if owns != granted {
		return fmt.Errorf("velo: rank %d owns %d credits to rank %d, which has granted %d: credits lost\n  sender:   %s\n  receiver: %s",
			sender.self, owns, receiver.self, granted, sender.flow.Describe(receiver.self), receiver.flow.Describe(sender.self))
	}
	return nil
}
