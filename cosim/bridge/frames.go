package bridge

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Frames as documented in cosim/dpi/src/protocol.h. Little endian.
const (
	magic      = 0x3147444252434c4e
	version    = 4
	maxMessage = 32768
	maxNodes   = 64
	maxVPIDs   = 16
	pageBytes  = 4096
)

const (
	cmdPostReg  = 0x01
	cmdPostPIO  = 0x02
	cmdReadReg  = 0x03
	cmdWatch    = 0x04
	cmdArm      = 0x05
	cmdArmPIO   = 0x06
	cmdArmIRQ   = 0x07
	cmdRun      = 0x08
	cmdTrace    = 0x09
	cmdWaves    = 0x0a
	cmdShutdown = 0x0b
	cmdRepeat   = 0x0c
	cmdSegment  = 0x0d
)

const (
	evStopped   = 0x41
	evWatchHit  = 0x42
	evPIOHit    = 0x43
	evIRQHit    = 0x44
	evRegValue  = 0x45
	evBusError  = 0x46
	evDMAError  = 0x47
	evFault     = 0x48
	evHeartbeat = 0x49
	evError     = 0x4a
	evRepeated  = 0x4b
)

const (
	stopQuiet = 1 << iota
	stopIdle
	stopTraceFull
	stopNoAnswer
)

const readResume = 1

const (
	commandBytes = 32
	lineBytes    = 64
	eventBytes   = 32
	textBytes    = 224
	helloBytes   = 72
	welcomeBytes = 88
)

type command struct {
	typ, node uint16
	id        uint32
	at        drivers.Cycle
	addr      uint64
	value     uint64
}

func (c *command) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, c.typ)
	b = binary.LittleEndian.AppendUint16(b, c.node)
	b = binary.LittleEndian.AppendUint32(b, c.id)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.at))
	b = binary.LittleEndian.AppendUint64(b, c.addr)
	return binary.LittleEndian.AppendUint64(b, c.value)
}

type event struct {
	typ, node uint16
	id        uint32
	cycle     drivers.Cycle
	a, b      uint64
	text      []byte // of a fault or an error; points into the message
}

// decodeEvent decodes the event at the start of b and returns its length.
func decodeEvent(b []byte, e *event) (int, error) {
	if len(b) < eventBytes {
		return 0, fmt.Errorf("%w: event is cut: expected %d bytes, found %d", drivers.ErrProtocol, eventBytes, len(b))
	}
	e.typ = binary.LittleEndian.Uint16(b)
	e.node = binary.LittleEndian.Uint16(b[2:])
	e.id = binary.LittleEndian.Uint32(b[4:])
	e.cycle = drivers.Cycle(binary.LittleEndian.Uint64(b[8:]))
	e.a = binary.LittleEndian.Uint64(b[16:])
	e.b = binary.LittleEndian.Uint64(b[24:])
	e.text = nil
	if (e.typ < evStopped || e.typ > evRepeated) && e.typ != evEdgeOut {
		return 0, fmt.Errorf("%w: event type 0x%04x is unknown", drivers.ErrProtocol, e.typ)
	}
	if e.typ != evFault && e.typ != evError {
		return eventBytes, nil
	}
	if len(b) < eventBytes+textBytes {
		return 0, fmt.Errorf("%w: event 0x%02x is cut: expected %d bytes, found %d", drivers.ErrProtocol, e.typ, eventBytes+textBytes, len(b))
	}
	e.text, _, _ = bytes.Cut(b[eventBytes:eventBytes+textBytes], []byte{0})
	return eventBytes + textBytes, nil
}

type hello struct {
	nodes     uint32
	dims      [3]uint32
	vpids     uint32
	descHash  uint64
	buildHash [32]byte
}

func decodeHello(b []byte) (h hello, err error) {
	if len(b) < 12 || binary.LittleEndian.Uint64(b) != magic {
		return h, fmt.Errorf("%w: handshake: this is no simulator of ours: expected magic 0x%x, found %x",
			drivers.ErrProtocol, uint64(magic), b[:min(len(b), 8)])
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return h, fmt.Errorf("%w: handshake: expected protocol version %d, the simulator has %d", drivers.ErrProtocol, version, v)
	}
	if len(b) != helloBytes {
		return h, fmt.Errorf("%w: handshake: expected %d bytes, found %d", drivers.ErrProtocol, helloBytes, len(b))
	}
	h.nodes = binary.LittleEndian.Uint32(b[12:])
	for i := range h.dims {
		h.dims[i] = binary.LittleEndian.Uint32(b[16+4*i:])
	}
	h.vpids = binary.LittleEndian.Uint32(b[28:])
	h.descHash = binary.LittleEndian.Uint64(b[32:])
	h.buildHash = [32]byte(b[40:])
	return h, nil
}

type welcome struct {
	nodes                    uint32
	memoryBytes, memoryStart uint64
	traceStart, traceRecords uint64
	sharedBytes              uint64
	buildHash                [32]byte
}

func (w *welcome) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, magic)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, w.nodes)
	for _, v := range [...]uint64{w.memoryBytes, w.memoryStart, w.traceStart, w.traceRecords, w.sharedBytes} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(b, w.buildHash[:]...)
}
