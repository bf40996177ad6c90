package nic

import (
	"encoding/binary"
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// What a system uses that has simulated elsewhere some of a machine's nodes (cosim/mixed). It lets
// the time of the one part pass by itself, and gives and takes the packets that pass between the
// nodes here and there.

// Perform does what happens in a cycle; NextEvent is not before it.
func (p *Part) Perform(t drivers.Cycle) { p.perform(t) }

// Reach tells that nothing more happens up to and in cycle t, so that the network sends what it has
// to send until then.
func (p *Part) Reach(t drivers.Cycle) {
	p.now = max(p.now, t)
	p.finish(t + 1)
}

// Stops tells whether a run must stop: there is something for Report.
func (p *Part) Stops() bool { return p.stops() }

// Report adds what has fired to a list, and tells what was refused.
func (p *Part) Report(list []drivers.Fired) ([]drivers.Fired, error) {
	return p.report(list), p.refusals()
}

// Empty: nothing is posted, under way or buffered, packets included.
func (p *Part) Empty() bool { return p.packets.used == 0 && p.empty() }

// Drained is when the last write buffer of a limiter is empty, behind which alone the hardware can
// be quiet.
func (p *Part) Drained() drivers.Cycle { return p.drained() }

// Memory is that of a node.
func (p *Part) Memory(node int) []byte { return p.nodes[node].mem }

// PostRead has a register read, whose answer Answer gives.
func (p *Part) PostRead(node int, off uint32) {
	n := &p.nodes[node]
	n.answer = answer{}
	n.postReg(regOp{at: p.now, off: off, read: true})
}

// AnswerTime is how long the answer to a PostRead is on its way when it is done.
func (p *Part) AnswerTime(node int, off uint32) drivers.Cycle {
	if p.nodes[node].besides(off) {
		return 0
	}
	return regAnswer + 1 // and it crosses the bus
}

// Answer is that of the last PostRead, once it is done.
func (p *Part) Answer(node int) (v uint64, done bool, err error) {
	a := &p.nodes[node].answer
	return a.v, a.done, a.err
}

// FlushTrace hands to the sink what was traced before a cycle.
func (m *Machine) FlushTrace(before drivers.Cycle) error { return m.flush(before) }

// ErrPacket: a header says that its packet has more flits than any may have.
var ErrPacket = errors.New("nic: a packet longer than any")

// Receive makes the packet of a header that comes from elsewhere. Its number is good until
// Discarded, or until the NIC that it is for is done with it.
func (p *Part) Receive(h regs.Header) (uint32, error) {
	if flit.Payload(h)*regs.FlitBytes > len(Packet{}.body) {
		return 0, ErrPacket
	}
	n := p.packets.get()
	p.packets.at(n).Header = h
	return n, nil
}

// SetTail takes from the last flit what the header does not say.
func (p *Packet) SetTail(v uint64) { p.stamp = stampOf(regs.Tail(v)) }

// SetWord sets a flit of the body, which has Flits() - 2.
func (p *Packet) SetWord(i int, v uint64) { binary.LittleEndian.PutUint64(p.body[8*i:], v) }
