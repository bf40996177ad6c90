package iwarp

import (
	"errors"
	"net/netip"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

// Errors of verbs.
var (
	ErrQueueFull    = errors.New("iwarp: queue full")
	ErrState        = errors.New("iwarp: queue pair is in the wrong state")
	ErrRegion       = errors.New("iwarp: work request outside its memory region")
	ErrRegistration = errors.New("iwarp: memory cannot be registered")
	ErrCQDepth      = errors.New("iwarp: completion queue too small for its queue pairs")
	ErrWork         = errors.New("iwarp: work request not supported by the queue pair")
)

// Device is a software RNIC.
type Device struct {
	now     func() time.Duration
	memory  ddp.Table
	domains uint32
	qps     []*QP
	turn    int
}

// OpenDevice returns a device. The clock drives the timeouts of RD.
func OpenDevice(now func() time.Duration) *Device { return &Device{now: now} }

// Progress lets one queue pair send or receive and reports whether one could. Every call begins
// behind the queue pair that the last one served, so a busy socket does not starve the others.
func (d *Device) Progress() bool {
	for i := range d.qps {
		at := (d.turn + i) % len(d.qps)
		if d.qps[at].progress() {
			d.turn = at + 1
			return true
		}
	}
	return false
}

// PD is a protection domain.
type PD struct {
	device *Device
	id     uint32
}

// AllocPD returns a new protection domain.
func (d *Device) AllocPD() *PD {
	d.domains++
	return &PD{d, d.domains}
}

// MR is a registered memory region.
type MR struct {
	pd     *PD
	stag   uint32
	base   uint64
	rights ddp.Rights
	data   []byte
}

// RegisterMR registers memory. Its first byte has tagged offset base.
func (p *PD) RegisterMR(data []byte, base uint64, rights ddp.Rights) (*MR, error) {
	stag, ok := p.device.memory.Register(p.id, rights, base, data)
	if !ok {
		return nil, ErrRegistration
	}
	return &MR{p, stag, base, rights, data}, nil
}

// STag returns the STag with which peers of the domain address the region.
func (m *MR) STag() uint32 { return m.stag }

// Deregister revokes the STag. An STag that a peer has invalidated is revoked already.
func (m *MR) Deregister() { m.pd.device.memory.Invalidate(m.stag, m.pd.id, false) }

// MaxSGE is the most elements of a scatter-gather list.
const MaxSGE = 4

// SGE is an element of a scatter-gather list.
type SGE struct {
	MR             *MR
	Offset, Length int
}

// resolve returns the memory of a list, in the storage of a work request.
func (p *PD) resolve(list []SGE, rights ddp.Rights, storage [][]byte) ([][]byte, error) {
	if len(list) > MaxSGE {
		return nil, ErrWork
	}
	storage = storage[:0]
	for _, e := range list {
		if e.MR == nil || e.MR.pd != p || e.Length < 0 || e.Offset < 0 {
			return nil, ErrRegion
		}
		to := e.MR.base + uint64(e.Offset)
		b, v := p.device.memory.Access(e.MR.stag, p.id, to, e.Length, rights)
		if v != ddp.Allowed {
			return nil, ErrRegion
		}
		storage = append(storage, b)
	}
	return storage, nil
}

// Status is the result of a work request.
type Status uint8

const (
	StatusSuccess     Status = iota
	StatusFlushed            // the queue pair failed before the work request was executed
	StatusLengthError        // the message was longer than the receive
	StatusUnreachable        // RD: the peer does not acknowledge
)

// WC is a work completion.
type WC struct {
	ID          uint64
	QP          *QP
	Receive     bool
	Status      Status
	Opcode      rdmap.Opcode
	Length      int
	Source      netip.AddrPort // of a receive over datagrams
	Invalidated uint32         // STag that the message invalidated, or 0
}

// CQ is a completion queue. Queue pairs reserve space for everything that can be posted, so it
// cannot overflow.
type CQ struct {
	ring     []WC
	head, n  int
	reserved int
	armed    bool
	solicit  bool
	notify   func()
}

// CreateCQ returns a completion queue.
func (d *Device) CreateCQ(depth int) *CQ { return &CQ{ring: make([]WC, depth)} }

// Poll removes completions and returns their number.
func (c *CQ) Poll(list []WC) int {
	n := min(len(list), c.n)
	for i := range n {
		list[i] = c.ring[c.head]
		c.ring[c.head] = WC{}
		c.head = (c.head + 1) % len(c.ring)
		if list[i].Receive {
			list[i].QP.receives--
		} else {
			list[i].QP.sends--
		}
	}
	c.n -= n
	return n
}

// Notify arms the queue: notify is called once, at the next completion, or with solicited at the
// next one of a solicited event or an error.
func (c *CQ) Notify(solicited bool, notify func()) {
	c.armed, c.solicit, c.notify = true, solicited, notify
}

func (c *CQ) push(w WC) {
	c.ring[(c.head+c.n)%len(c.ring)] = w
	c.n++
	wanted := !c.solicit || w.Status != StatusSuccess || w.Receive && w.Opcode.Solicited()
	if c.armed && wanted {
		c.armed = false
		c.notify()
	}
}
