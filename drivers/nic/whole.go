package nic

import "github.com/nicloop/nicloop/drivers"

// What a network calls that serves a whole machine of one part.

// Next is Part.Next.
func (m *Machine) Next(node int, s Source) (packet uint32, ok bool) { return m.parts[0].Next(node, s) }

// Packet is Part.Packet.
func (m *Machine) Packet(h uint32) *Packet { return m.parts[0].Packet(h) }

// Sent is Part.Sent.
func (m *Machine) Sent(node int, s Source) { m.parts[0].Sent(node, s) }

// Accepts is Part.Accepts.
func (m *Machine) Accepts(node, class int, h uint32) bool { return m.parts[0].Accepts(node, class, h) }

// RouteError is Part.RouteError.
func (m *Machine) RouteError(node int) { m.parts[0].RouteError(node) }

// Discarded is Part.Discarded.
func (m *Machine) Discarded(h uint32) { m.parts[0].Discarded(h) }

// Collected is Part.Collected.
func (m *Machine) Collected(node, class int, h uint32) { m.parts[0].Collected(node, class, h) }

// Tracing is Part.Tracing.
func (m *Machine) Tracing() bool { return m.parts[0].Tracing() }

// TraceFlit is Part.TraceFlit.
func (m *Machine) TraceFlit(at drivers.Cycle, node int, point, vc uint8, h uint32, place int) {
	m.parts[0].TraceFlit(at, node, point, vc, h, place)
}
