package capture

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// milestone is the end of a stage.
type milestone struct {
	name  string
	class Class
	at    drivers.Time
}

// Stages lists the stages of the packet in order. They always add up to t.End - t.Start: a stage
// counts only the time that does not overlap with a later stage (for example memory that is still
// being read when its first bytes leave).
func (f *Flight) Stages(t Trip) ([]Stage, error) {
	s := stager{events: f.events, trip: t}
	if t.RMA {
		s.put()
	} else {
		s.velo()
	}
	if s.missing != "" {
		return nil, fmt.Errorf("%w: the device does not show %s: only rtl: can be looked into so far", drivers.ErrNotSupported, s.missing)
	}
	until := t.End
	for i := len(s.path) - 1; i >= 0; i-- {
		until = min(until, s.path[i].at)
		s.path[i].at = until
	}
	stages, since := make([]Stage, len(s.path)), t.Start
	for i, m := range s.path {
		stages[i] = Stage{m.name, m.class, m.at - since}
		since = m.at
	}
	return stages, nil
}

// stager finds the milestones of one trip.
type stager struct {
	events  []drivers.TraceEvent
	trip    Trip
	path    []milestone
	missing string // the first milestone that was not found
}

func (s *stager) velo() {
	t := &s.trip
	s.store("burst to the send window")
	s.packet(regs.PacketTypeVELO, "VELO requester")
	s.first("VELO completer", NIC, t.Dst, drivers.PointWriteAddr, t.Ring)
	s.last("DMA write of the slot", Bus, t.Dst, drivers.PointWriteLast, t.Ring)
	s.arrived("poll, take the packet")
}

func (s *stager) put() {
	t := &s.trip
	s.store("burst to the send window")
	s.first("RMA requester, translation", NIC, t.Src, drivers.PointReadAddr, t.Source)
	s.last("DMA read of the bytes", Bus, t.Src, drivers.PointReadLast, t.Source)
	s.packet(regs.PacketTypeRMAPut, "RMA sender")
	s.first("RMA completer, translation", NIC, t.Dst, drivers.PointWriteAddr, t.Target)
	s.last("DMA write of the bytes", Bus, t.Dst, drivers.PointWriteLast, t.Target)
	s.last("acknowledgement of the write", Bus, t.Dst, drivers.PointWriteDone, t.Target)
	s.first("RMA notifier", NIC, t.Dst, drivers.PointWriteAddr, t.Ring)
	s.last("DMA write of the notification", Bus, t.Dst, drivers.PointWriteLast, t.Ring)
	s.arrived("poll, take the notification")
}

// store is the work of the sender's processor.
func (s *stager) store(burst string) {
	s.find("call, store reaches the bus", Host, func(e *drivers.TraceEvent) bool {
		return int(e.Node) == s.trip.Src && e.Point == drivers.PointPIOAddr && regs.ForDescriptors(uint32(e.Data)) == s.trip.RMA
	})
	s.find(burst, Bus, func(e *drivers.TraceEvent) bool { return int(e.Node) == s.trip.Src && e.Point == drivers.PointPIOLast })
}

// arrived: once the data is in memory, the remaining time belongs to the receiver's software.
func (s *stager) arrived(name string) {
	s.path = append(s.path, milestone{name, Host, s.trip.End})
}

// packet follows the packet's head from the NIC through the network, and then its tail.
func (s *stager) packet(typ regs.PacketType, sender string) {
	wire := ""
	for i := range s.events {
		e := &s.events[i]
		if !s.head(e, typ) {
			continue
		}
		switch {
		case e.Point == drivers.PointInject:
			s.add(e, sender, NIC)
		case e.Point == drivers.PointEject:
			s.add(e, fmt.Sprintf("router of node %d", e.Node), Network)
			s.tail(s.events[i:], e)
			return
		case e.Point >= drivers.PointArrive1:
			s.add(e, "link "+wire, Network)
		default:
			wire = fmt.Sprintf("node%d.%s", e.Node, pointNames[e.Point])
			s.add(e, fmt.Sprintf("router of node %d", e.Node), Network)
		}
	}
	s.miss("the packet's arrival")
}

// head reports whether the event is a head flit of the packet.
func (s *stager) head(e *drivers.TraceEvent, typ regs.PacketType) bool {
	if e.Flags&drivers.TraceHead == 0 || e.Point >= linkPoints && e.Point < drivers.PointArrive1 || e.Point >= drivers.PointTLPDown {
		return false
	}
	h := regs.Header(e.Data)
	return h.Type() == typ && int(h.SrcNode()) == s.trip.Src && int(h.DstNode()) == s.trip.Dst
}

// tail finds the end of the packet that begins with the first event.
func (s *stager) tail(events []drivers.TraceEvent, head *drivers.TraceEvent) {
	flits := 0
	for i := range events {
		e := &events[i]
		if e.Point != drivers.PointEject || e.Node != head.Node || e.VC != head.VC {
			continue
		}
		if flits++; e.Flags&drivers.TraceTail != 0 {
			s.add(e, fmt.Sprintf("the other %d flits", flits-1), Network)
			return
		}
	}
	s.miss("the packet's tail")
}

func (s *stager) first(name string, c Class, node int, point uint8, in Range) {
	s.find(name, c, func(e *drivers.TraceEvent) bool { return int(e.Node) == node && e.Point == point && in.holds(e.Data) })
}

// last takes the last event of the kind, because there may be several bursts.
func (s *stager) last(name string, c Class, node int, point uint8, in Range) {
	for i := len(s.events) - 1; i >= 0; i-- {
		if e := &s.events[i]; int(e.Node) == node && e.Point == point && in.holds(e.Data) {
			s.add(e, name, c)
			return
		}
	}
	s.miss(name)
}

func (s *stager) find(name string, c Class, is func(*drivers.TraceEvent) bool) {
	for i := range s.events {
		if is(&s.events[i]) {
			s.add(&s.events[i], name, c)
			return
		}
	}
	s.miss(name)
}

func (s *stager) add(e *drivers.TraceEvent, name string, c Class) {
	s.path = append(s.path, milestone{name, c, drivers.Time(e.Cycle) * drivers.Time(s.trip.ClockPS)})
}

func (s *stager) miss(what string) {
	if s.missing == "" {
		s.missing = what
	}
}
