package capture

import "github.com/nicloop/nicloop/drivers"

// A Class is the component to which a stage's time is attributed.
type Class string

// The classes, in the order of tables.
const (
	Host    Class = "host"    // software and its processor
	Bus     Class = "bus"     // between NIC and host memory or processor
	NIC     Class = "NIC"     // units of the NIC
	Network Class = "network" // routers and links
)

// Classes lists all classes.
var Classes = []Class{Host, Bus, NIC, Network}

// A Stage is a part of the path of one packet.
type Stage struct {
	Name  string       `json:"name"`
	Class Class        `json:"class"`
	Time  drivers.Time `json:"ps"`
}

// A Range is a range of a node's memory.
type Range struct{ From, Bytes uint64 }

func (r Range) holds(addr uint64) bool { return addr-r.From < r.Bytes }

// A Trip is the information about a packet that is known without tracing.
type Trip struct {
	RMA        bool // one fragment of an RMA put; otherwise a VELO packet
	Src, Dst   int  // nodes
	Start, End drivers.Time
	ClockPS    int
	Source     Range // RMA: the bytes at the origin
	Target     Range // RMA: the bytes at the target
	Ring       Range // the mailbox or, for RMA, the ring that is notified of the put
}

// A Flight is a drivers.TraceSink that records the events of one packet on an idle network, and
// lists its stages.
type Flight struct {
	on     bool
	events []drivers.TraceEvent
	reads  []addresses // bursts in flight, by node
	writes []addresses
}

// addresses of bursts, oldest first. Data beats and acknowledgements arrive in the order of the
// addresses, so they need no identifiers.
type addresses struct{ open, unacknowledged []uint64 }

// unnamed is the address of a beat without a burst.
const unnamed = ^uint64(0)

func pop(list *[]uint64) uint64 {
	if len(*list) == 0 {
		return unnamed
	}
	a := (*list)[0]
	*list = (*list)[1:]
	return a
}

// Keep starts a new recording.
func (f *Flight) Keep() { f.on, f.events = true, f.events[:0] }

// Trace implements drivers.TraceSink.
func (f *Flight) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		for len(f.reads) <= int(e.Node) {
			f.reads, f.writes = append(f.reads, addresses{}), append(f.writes, addresses{})
		}
		f.name(&e)
		if f.on {
			f.events = append(f.events, e)
		}
	}
	return nil
}

// name sets the address of the burst in data beats and acknowledgements.
func (f *Flight) name(e *drivers.TraceEvent) {
	r, w := &f.reads[e.Node], &f.writes[e.Node]
	switch e.Point {
	case drivers.PointReadAddr:
		r.open = append(r.open, e.Data)
	case drivers.PointReadLast:
		e.Data = pop(&r.open)
	case drivers.PointWriteAddr:
		w.open, w.unacknowledged = append(w.open, e.Data), append(w.unacknowledged, e.Data)
	case drivers.PointWriteLast:
		e.Data = pop(&w.open)
	case drivers.PointWriteDone:
		e.Data = pop(&w.unacknowledged)
	}
}
