package iwarpperf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/datagram"
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/mpa"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

const (
	slots     = 128      // receive buffers of an end
	slotBytes = 64 << 10 // largest message of a connection
	sends     = slots
	maxReads  = 16 // IRD and ORD

	// MaxWindow is the largest number of outstanding messages.
	MaxWindow = slots - 2
)

// MaxBytes is the largest size of a message. Over datagrams it is sent in two parts.
const MaxBytes = slotBytes

// ErrFailed is the error of a queue pair that has failed.
var ErrFailed = errors.New("the queue pair failed")

// kinds are the names of queue pair types on the command line.
var kinds = map[string]iwarp.QPType{"rc": iwarp.RC, "ud": iwarp.UD, "rd": iwarp.RD}

// Kinds returns the names of queue pair types.
func Kinds() []string { return []string{"rc", "ud", "rd"} }

// partBytes is the largest part of a message in one send.
func partBytes(kind iwarp.QPType) int {
	switch kind {
	case iwarp.UD:
		return datagram.MaxUD
	case iwarp.RD:
		return datagram.MaxRD
	}
	return slotBytes
}

// endpoint is a device with one queue pair. Its memory has slots for receives, then one for sends.
type endpoint struct {
	*iwarp.Device
	kind   iwarp.QPType
	cq     *iwarp.CQ
	mr     *iwarp.MR
	memory []byte
	qp     *iwarp.QP
	batch  [16]iwarp.WC
	now    func() time.Duration
}

// wallClock returns a clock that begins now.
func wallClock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}

// open returns an endpoint in state RTS with the first receives posted.
func open(kind iwarp.QPType, a iwarp.Attachment, receives int) (*endpoint, error) {
	return openAt(kind, a, receives, wallClock(), uint32(time.Now().UnixMilli()))
}

// openAt is open with a clock and the epoch of the reliable transport.
func openAt(kind iwarp.QPType, a iwarp.Attachment, receives int, now func() time.Duration, epoch uint32,
) (*endpoint, error) {
	e := &endpoint{
		Device: iwarp.OpenDevice(now), kind: kind, memory: make([]byte, (slots+1)*slotBytes), now: now,
	}
	pd := e.AllocPD()
	e.cq = e.CreateCQ(sends + slots)
	var err error
	if e.mr, err = pd.RegisterMR(e.memory, 0, ddp.LocalWrite|ddp.RemoteRead|ddp.RemoteWrite); err != nil {
		return nil, err
	}
	e.qp, err = pd.CreateQP(iwarp.QPAttributes{
		Type: kind, SendCQ: e.cq, RecvCQ: e.cq, Sends: sends, Receives: slots, IRD: maxReads, ORD: maxReads,
		Reliable: iwarp.ReliableAttributes{
			Epoch: epoch, Peers: 64, Stored: 64, Timeout: 20 * time.Millisecond,
			Attempts: 100, AckEvery: 8, AckDelay: time.Millisecond,
		},
	})
	if err != nil {
		return nil, err
	}
	if err := e.qp.Modify(iwarp.Init, a); err != nil {
		return nil, err
	}
	for slot := range receives {
		if err := e.receive(uint64(slot)); err != nil {
			return nil, err
		}
	}
	for _, s := range []iwarp.State{iwarp.RTR, iwarp.RTS} {
		if err := e.qp.Modify(s, a); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// receive posts a receive slot.
func (e *endpoint) receive(slot uint64) error {
	list := [1]iwarp.SGE{{MR: e.mr, Offset: int(slot) * slotBytes, Length: slotBytes}}
	return e.qp.PostReceive(slot, list[:])
}

// send posts bytes of a slot.
func (e *endpoint) send(opcode rdmap.Opcode, id uint64, slot, length int, to netip.AddrPort) error {
	list := [1]iwarp.SGE{{MR: e.mr, Offset: slot * slotBytes, Length: length}}
	return e.qp.PostSend(iwarp.Work{ID: id, Opcode: opcode, To: to, List: list[:]})
}

// handle empties the completion queue until take returns an error. It reports whether there were
// completions.
func (e *endpoint) handle(take func(w *iwarp.WC) error) (worked bool, err error) {
	for n := e.cq.Poll(e.batch[:]); n > 0; n = e.cq.Poll(e.batch[:]) {
		worked = true
		for i := range e.batch[:n] {
			if err := take(&e.batch[i]); err != nil {
				return worked, err
			}
		}
	}
	return worked, nil
}

func (e *endpoint) slot(i uint64) []byte { return e.memory[i*slotBytes:][:slotBytes] }

// failure returns the error of a queue pair in state Error.
func (e *endpoint) failure() error {
	if e.qp.State() != iwarp.Error {
		return nil
	}
	event, ok := e.qp.Event()
	switch {
	case !ok:
		return fmt.Errorf("%w: the peer closed the connection", ErrFailed)
	case event.Remote:
		return fmt.Errorf("%w: the peer reports: %w", ErrFailed, event.Code)
	}
	return fmt.Errorf("%w: %w", ErrFailed, event.Code)
}

// options returns the options of the start-up phase of a connection.
func options(private []byte) mpa.Options {
	return mpa.Options{Revision: 2, Enhanced: true, CRC: true, IRD: maxReads, ORD: maxReads, Private: private}
}

// idler lets a poll loop rest: an idle server must not occupy a core. The first rounds spin, as
// the reply to a message usually follows within microseconds.
type idler struct{ rounds int }

func (i *idler) rest(worked bool) {
	if worked {
		i.rounds = 0
		return
	}
	i.rounds++
	switch {
	case i.rounds < 200:
	case i.rounds < 2000:
		runtime.Gosched()
	case i.rounds < 10_000:
		time.Sleep(20 * time.Microsecond)
	default:
		time.Sleep(time.Millisecond)
	}
}

// drive calls progress until it returns an error or done returns true.
func drive(ctx context.Context, progress func() (bool, error), done func() bool) error {
	var i idler
	for !done() {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		worked, err := progress()
		if err != nil {
			return err
		}
		i.rest(worked)
	}
	return nil
}
