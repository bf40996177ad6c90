package bridge

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// control is the first block of the shared memory (Control in protocol.h), written by the
// simulator.
type control struct {
	cycle      uint64
	traceCount uint64
	pioTaken   [maxNodes][maxVPIDs]uint64
}

// shared is the memory mapped by both processes: control page, trace buffer, DMA memory of the
// nodes. It is sparse: unused pages cost nothing.
type shared struct {
	fd     int // until it was passed on
	bytes  []byte
	layout welcome
}

func newShared(cfg *Config) (*shared, error) {
	round := func(n uint64) uint64 { return (n + pageBytes - 1) &^ (pageBytes - 1) }
	w := welcome{
		nodes:       uint32(cfg.nodes()),
		memoryBytes: round(uint64(cfg.MemoryBytes)),
		traceStart:  msgBuffersEnd,
		buildHash:   cfg.BuildHash,
	}
	if cfg.Trace != nil {
		w.traceRecords = traceRecords
	}
	w.memoryStart = round(w.traceStart + w.traceRecords*uint64(unsafe.Sizeof(drivers.TraceEvent{})))
	w.sharedBytes = w.memoryStart + uint64(w.nodes)*w.memoryBytes
	fd, err := unix.MemfdCreate("nicloop", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	s := &shared{fd: fd, layout: w}
	if err := unix.Ftruncate(fd, int64(w.sharedBytes)); err != nil {
		s.close()
		return nil, os.NewSyscallError("ftruncate", err)
	}
	s.bytes, err = unix.Mmap(fd, 0, int(w.sharedBytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		s.close()
		return nil, os.NewSyscallError("mmap", err)
	}
	return s, nil
}

// handedOver closes the descriptor; the mapping stays.
func (s *shared) handedOver() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

func (s *shared) close() {
	s.handedOver()
	s.unmap()
}

func (s *shared) unmap() {
	if s.bytes != nil {
		_ = unix.Munmap(s.bytes)
		s.bytes = nil
	}
}

func (s *shared) control() *control { return (*control)(unsafe.Pointer(&s.bytes[0])) }

func (s *shared) msgBuffer(offset int) *msgBuffer {
	return (*msgBuffer)(unsafe.Pointer(&s.bytes[offset]))
}

func (s *shared) pioTaken(node, vpid int) uint64 {
	return atomic.LoadUint64(&s.control().pioTaken[node][vpid])
}

func (s *shared) memory(node int) []byte {
	from := s.layout.memoryStart + uint64(node)*s.layout.memoryBytes
	to := from + s.layout.memoryBytes
	return s.bytes[from:to:to]
}

// traceEvents returns the first n records of the trace buffer, in place.
func (s *shared) traceEvents(n uint64) []drivers.TraceEvent {
	return unsafe.Slice((*drivers.TraceEvent)(unsafe.Pointer(&s.bytes[s.layout.traceStart])), min(n, s.layout.traceRecords))
}
