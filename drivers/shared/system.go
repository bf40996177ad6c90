package shared

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/sharedmem"
)

// A System is a client's connection to a broker.
type System struct {
	info    drivers.Info
	conn    *wire.Conn
	devices []device
	ask     sync.Mutex // at most one request is outstanding
	answers chan wire.Frame
	gone    chan struct{} // closed when err is set

	mu      sync.Mutex // protects the fields below
	err     error      // the first error; it ended the system
	waiters map[uint64]*waiter
}

// newSystem maps the pieces of memory and creates the devices.
func newSystem(c *wire.Conn, w wire.WelcomeText, files []*os.File) (*System, error) {
	if w.Info.Nodes < 1 || w.Info.Nodes > regs.NodeMax || len(files) != len(w.Pieces) {
		return nil, fmt.Errorf("%w: shared: a machine of %d nodes, %d pieces of memory and %d files", drivers.ErrProtocol, w.Info.Nodes, len(w.Pieces), len(files))
	}
	s := &System{
		info: w.Info, conn: c, devices: make([]device, w.Info.Nodes),
		answers: make(chan wire.Frame, 1), gone: make(chan struct{}), waiters: map[uint64]*waiter{},
	}
	for n := range s.devices {
		d := &s.devices[n]
		d.s, d.node, d.pacing = s, n, pacing.New(raw{d})
	}
	for i, p := range w.Pieces {
		if p.Node < 0 || p.Node >= w.Info.Nodes || s.devices[p.Node].memory != nil {
			return nil, fmt.Errorf("%w: shared: a piece of memory of node %d", drivers.ErrProtocol, p.Node)
		}
		mem, err := sharedmem.Map(files[i], p.Bytes)
		if err != nil {
			return nil, fmt.Errorf("shared: memory of node %d: %w", p.Node, err)
		}
		// Ranks of an ended run may still access the memory: unmap it when the system is
		// unreachable.
		runtime.AddCleanup(s, sharedmem.Free, mem)
		s.devices[p.Node].memory, s.devices[p.Node].segments = mem, p.Segments
	}
	return s, nil
}

// Info describes the broker's system.
func (s *System) Info() drivers.Info { return s.info }

// Device returns a node's NIC. It has no memory on nodes where this program has no process.
func (s *System) Device(node int) drivers.Device { return &s.devices[node] }

// Close ends the connection; the broker releases the processes.
func (s *System) Close() error {
	s.fail(drivers.ErrClosed)
	return nil
}

// fail ends the system; the first error wins.
func (s *System) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	close(s.gone)
	_ = s.conn.Close()
	for _, w := range s.waiters {
		w.ring()
	}
}

func (s *System) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// listen receives the broker's frames.
func (s *System) listen() {
	for {
		f, err := s.conn.Receive()
		if errors.Is(err, drivers.ErrProtocol) {
			s.fail(fmt.Errorf("shared: %w", err))
			return
		}
		if err != nil {
			s.fail(lost(err))
			return
		}
		switch f.Kind {
		case wire.Value, wire.Failed:
			select {
			case s.answers <- f:
			default:
				s.fail(fmt.Errorf("%w: shared: an answer without a request", drivers.ErrProtocol))
				return
			}
		case wire.Hit:
			s.mu.Lock()
			if w := s.waiters[f.A]; w != nil { // it may have been closed meanwhile
				w.ring()
			}
			s.mu.Unlock()
		case wire.Over:
			s.fail(fmt.Errorf("shared: %w", wire.ErrorOf(f.Data)))
			return
		default:
			s.fail(fmt.Errorf("%w: shared: a broker does not say %q", drivers.ErrProtocol, byte(f.Kind)))
			return
		}
	}
}

// post sends a frame that has no answer.
func (s *System) post(f *wire.Frame) error {
	err := s.conn.Send(f)
	if err == nil {
		return nil
	}
	if wire.Gone(err) { // the broker may have sent the reason: listen reports it
		<-s.gone
	}
	s.fail(lost(err))
	return s.broken()
}

// request sends a frame and waits for its answer.
func (s *System) request(f *wire.Frame) (uint64, error) {
	s.ask.Lock()
	defer s.ask.Unlock()
	select {
	case <-s.answers:
		s.fail(fmt.Errorf("%w: shared: an answer without a request", drivers.ErrProtocol))
	default:
	}
	if err := s.broken(); err != nil {
		return 0, err
	}
	if err := s.post(f); err != nil {
		return 0, err
	}
	select {
	case a := <-s.answers:
		if a.Kind == wire.Failed {
			return 0, fmt.Errorf("shared: %w", wire.ErrorOf(a.Data))
		}
		return a.B, nil
	case <-s.gone:
		return 0, s.broken()
	}
}
