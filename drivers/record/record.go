package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/translog"
	"github.com/nicloop/nicloop/drivers/userfile"
)

// Limit is the maximum size of a log in bytes.
const Limit = 1 << 30

func init() {
	registry.Register(registry.Backend{
		Scheme: "record", Doc: "writes down what passes, for device replay: record:FILE!DEVICE",
		Wrapper: &registry.Wrapper{Form: "FILE!", Split: inner, Open: open, Output: func(file string) string { return file }},
	})
}

// inner splits FILE!DEVICE.
func inner(path string) (file, uri string, ok bool) {
	file, uri, ok = strings.Cut(path, "!")
	return file, uri, ok && file != "" && uri != ""
}

func open(ctx context.Context, file, uri string, opt drivers.Options) (drivers.System, error) {
	under, err := registry.Open(ctx, uri, opt)
	if err != nil {
		return nil, err
	}
	f, err := userfile.Create(file, true)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: a log: %w", drivers.ErrEnvironment, err), under.Close())
	}
	return New(under, &limited{w: f, name: file, left: Limit}, f), nil
}

// ErrLimit: a log has reached its maximum size.
var ErrLimit = fmt.Errorf("the log has reached its limit of %d bytes", Limit)

// A WriteError reports that the log could not be written; later operations are not recorded.
type WriteError struct {
	File    string
	Written int64
	Err     error // of the operating system, or ErrLimit
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("log %s is cut off after %d bytes: %v; up to there it can be replayed", e.File, e.Written, e.Err)
}

func (e *WriteError) Unwrap() []error { return []error{e.Err, drivers.ErrEnvironment} }

// limited is a file with a maximum size.
type limited struct {
	w       io.Writer
	name    string
	left    int64
	written int64
}

func (l *limited) Write(b []byte) (int, error) {
	if int64(len(b)) > l.left {
		return 0, &WriteError{l.name, l.written, ErrLimit}
	}
	n, err := l.w.Write(b)
	l.written += int64(n)
	l.left -= int64(n)
	if err != nil {
		err = &WriteError{l.name, l.written, err}
	}
	return n, err
}

// A System records everything that passes through its devices. It is not a Timed: the recorder does
// not control the clock.
type System struct {
	under   drivers.System
	devices []drivers.Device
	nodes   []*device
	file    io.Closer

	mu     sync.Mutex // protects the fields below and serialises calls
	log    *translog.Writer
	closed bool
	dead   bool // the recorded system has failed and no longer responds
}

// New records under into w. Close also closes file, which may be nil.
func New(under drivers.System, w io.Writer, file io.Closer) *System {
	info := under.Info()
	m := translog.Meta{Info: info, Ordered: true, Segments: segment.Of(under)}
	s := &System{under: under, file: file}
	for n := range info.Nodes {
		dev := under.Device(n)
		m.Memory = append(m.Memory, len(dev.Memory()))
		d := newDevice(s, n, dev)
		s.nodes = append(s.nodes, d)
		if far, ok := dev.(mover); ok {
			s.devices = append(s.devices, &farDevice{d, far})
			m.Partial = true
		} else {
			s.devices = append(s.devices, d)
		}
	}
	s.log = translog.NewWriter(w, m)
	return s
}

// Info returns that of the recorded system.
func (s *System) Info() drivers.Info { return s.under.Info() }

// Device returns a node's NIC, whose calls are recorded.
func (s *System) Device(node int) drivers.Device { return s.devices[node] }

// Close reads the compared registers once more and closes the system, the log and the file.
func (s *System) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	if !s.dead {
		s.end()
	}
	s.closed = true
	err := s.log.Close()
	s.mu.Unlock()
	err = errors.Join(s.under.Close(), err)
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// calm is the maximum number of rounds of reading registers until their values settle.
const calm = 20

// end records the final state. Of a register that does not settle it records the last value; if a
// device dies meanwhile, the log ends there.
func (s *System) end() {
	for _, d := range s.nodes {
		list := d.final()
		var was, is []uint64
		for range calm {
			is = is[:0]
			for _, off := range list {
				v, err := d.Device.ReadReg(off)
				if err != nil {
					return
				}
				is = append(is, v)
			}
			if was != nil && sameValues(registersOf(s.under.Info()), list, was, is) {
				break
			}
			was = append(was[:0], is...)
		}
		d.memory()
		for i, off := range list {
			s.log.Append(&translog.Op{Kind: translog.ReadReg, Node: d.node, Off: uint64(off), Value: is[i]})
		}
	}
}

func sameValues(m *regmap.Map, list []uint32, was, is []uint64) bool {
	for i, off := range list {
		if mask := comparedIn(m, off); was[i]&mask != is[i]&mask {
			return false
		}
	}
	return true
}

// put appends one operation and returns an error if recording has failed.
func (s *System) put(o translog.Op, err error) error {
	o.Err = translog.NewFailure(err)
	if !s.closed {
		s.log.Append(&o)
	}
	if errors.Is(err, drivers.ErrPeerDied) || errors.Is(err, drivers.ErrClosed) || errors.Is(err, drivers.ErrStarved) {
		s.dead = true
		s.log.Flush()
	}
	return errors.Join(err, s.log.Err())
}

// registersOf is the register map of a system.
func registersOf(info drivers.Info) *regmap.Map {
	if info.Registers != nil {
		return info.Registers
	}
	return regs.Map()
}

// simulationPage is where the registers of the simulation itself begin in the map of a design: they
// show interrupts at one moment, which the recorded hardware may have had at another.
const simulationPage = 0x7ffff000

// comparedIn is Compared for the registers of any map.
func comparedIn(m *regmap.Map, off uint32) uint64 {
	if m == regs.Map() {
		return Compared(off)
	}
	r, _, ok := m.ByAddress(off)
	if ok && r.Volatile || off >= simulationPage {
		return 0
	}
	return ^uint64(0)
}

// Compared returns the mask of a register's bits that a replay compares: not those that depend on
// timing or show operations in flight.
func Compared(off uint32) uint64 {
	r, _, ok := regs.ByAddress(off)
	if !ok {
		return ^uint64(0)
	}
	switch r.Name {
	case "MBOX_CTRL":
		return ^regs.MboxCtrlBusy
	case "NOTI_CTRL":
		return ^regs.NotiCtrlBusy
	case "ATU_STATUS":
		return regs.ATUStatusDone.Mask()
	case "VELO_WINDOW":
		return ^(regs.VELOWindowWaiting.Mask() | regs.VELOWindowTaken.Mask())
	case "RMA_WINDOW":
		return ^(regs.RMAWindowWaiting.Mask() | regs.RMAWindowTaken.Mask())
	case "LINK_STATUS":
		return regs.LinkStatusConnected
	case "PARAMS", "CYCLES", "HOLD", "LEVEL", "TX_LEVEL", "RX_LEVEL", "RMA_LEVEL", "NVM_LEVEL", "TX_STALL", "RX_STALL", "RX_STALL_VPID",
		"MBOX_STALL", "NOTI_STALL", "NVM_STALL", "RMA_STALL_VPID", "ATU_HITS", "ATU_MISSES",
		"LINK_CRC_ERRORS", "LINK_RETRANSMISSIONS", "LINK_TIMEOUTS", "LINK_FAILURES": // of a real wire
		return 0
	}
	if strings.HasPrefix(r.Name, "WIRE_") {
		return 0
	}
	return ^uint64(0)
}
