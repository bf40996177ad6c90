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

// Perform simulates cycle t, which must not be later than NextEvent.
func (p *Part) Perform(t drivers.Cycle) { p.perform(t) }

// Reach advances to cycle t without events, so that the network sends what is due until then.
func (p *Part) Reach(t drivers.Cycle) {
	p.now = max(p.now, t)
	p.finish(t + 1)
}

// Stops reports whether Report has something to return, which ends a run.
func (p *Part) Stops() bool { return p.stops() }

// Report appends the conditions that have fired, and returns the errors of refused accesses.
func (p *Part) Report(list []drivers.Fired) ([]drivers.Fired, error) {
	return p.report(list), p.refusals()
}

// Empty reports whether nothing is posted, in flight or buffered, packets included.
func (p *Part) Empty() bool { return p.packets.used == 0 && p.empty() }

// Drained is the cycle in which the last write buffer of a limiter is empty. The hardware is not
// quiet before.
func (p *Part) Drained() drivers.Cycle { return p.drained() }

// Memory returns the memory of a node.
func (p *Part) Memory(node int) []byte { return p.nodes[node].mem }

// PostRead posts a register read. Answer returns its result.
func (p *Part) PostRead(node int, off uint32) {
	n := &p.nodes[node]
	n.answer = answer{}
	n.postReg(regOp{at: p.now, off: off, read: true})
}

// AnswerTime is the number of cycles from the completion of a PostRead to its arrival at the host.
func (p *Part) AnswerTime(node int, off uint32) drivers.Cycle {
	if p.nodes[node].besides(off) {
		return 0
	}
	return regAnswer + 1 // and it crosses the bus
}

// Answer returns the result of the last PostRead once it is done.
func (p *Part) Answer(node int) (v uint64, done bool, err error) {
	a := &p.nodes[node].answer
	return a.v, a.done, a.err
}

// FlushTrace passes all events of cycles before a cycle to the sink.
func (m *Machine) FlushTrace(before drivers.Cycle) error { return m.flush(before) }

// ErrPacket reports a header whose packet would exceed the maximum length.
var ErrPacket = errors.New("nic: a packet longer than any")

// Receive allocates a packet for a header that arrives from another simulation. Its number is valid
// until Discarded, or until the destination NIC frees it.
func (p *Part) Receive(h regs.Header) (uint32, error) {
	if flit.Payload(h)*regs.FlitBytes > len(Packet{}.body) {
		return 0, ErrPacket
	}
	n := p.packets.get()
	p.packets.at(n).Header = h
	return n, nil
}

// SetTail sets what only the last flit carries: domain and life of the sender.
func (p *Packet) SetTail(v uint64) { p.stamp = stampOf(regs.Tail(v)) }

// SetWord sets flit i of the body. The body has Flits() - 2 flits.
func (p *Packet) SetWord(i int, v uint64) { binary.LittleEndian.PutUint64(p.body[8*i:], v) }
