package libfabric

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
)

// A Server hands the memory of its rank to every program that connects.
type Server struct {
	Config
	listener *net.UnixListener
	name     string
	links    []*link
	world    worldState

	firstDead atomic.Int32 // 1 + the rank whose program ended first without leaving the world

	// ended is closed when no program will connect any more.
	ended    chan struct{}
	endOnce  sync.Once
	endCause error
}

// Config is how programs run in virtual time.
type Config struct {
	Ranks int
	// PollCost is what reading an empty completion queue takes.
	PollCost drivers.Time
	// Compute is by how much the measured processor time of a program counts between two calls; 0:
	// computing takes no time.
	Compute float64
	// Record receives the measured processor times; Replay replaces them by recorded ones. Compute is
	// then their factor, and at most one of the two is set.
	Record, Replay *ComputeLog
	// Stall is how long in real time a program may wait outside of libfabric before the other ranks
	// continue without it.
	Stall time.Duration
	// Node is the node of each rank, and Local that ranks of a node do not use the NIC.
	Node  []int
	Local bool
	// Warn prints what the user should know at once.
	Warn func(text string)
}

// A link is the connection to the program of one rank.
type link struct {
	rank      int
	file      *os.File
	region    *region
	memory    []byte
	connected chan struct{}
	pid       atomic.Int32
	dead      atomic.Bool // the program has ended
	left      atomic.Bool // the program has left the world
}

// Listen makes a server for programs on this machine.
func Listen(c Config) (s *Server, err error) {
	s = &Server{Config: c, ended: make(chan struct{})}
	s.name = fmt.Sprintf("nicloop-mpi-%d-%d", os.Getpid(), time.Now().UnixNano())
	if s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: "@" + s.name, Net: "unix"}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for rank := range c.Ranks {
		l, err := newLink(rank, c.Ranks)
		if err != nil {
			return nil, err
		}
		l.region.pollPS, l.region.node = uint64(c.PollCost), uint32(c.Node[rank])
		s.links = append(s.links, l)
	}
	go s.accept()
	return s, nil
}

func newLink(rank, ranks int) (*link, error) {
	file, err := anonymousFile()
	if err != nil {
		return nil, fmt.Errorf("memory of rank %d: %w", rank, err)
	}
	l := &link{rank: rank, file: file, connected: make(chan struct{})}
	if err := l.file.Truncate(int64(regionBytes)); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	mem, err := syscall.Mmap(int(file.Fd()), 0, regionBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	l.memory, l.region = mem, (*region)(unsafe.Pointer(unsafe.SliceData(mem)))
	l.region.magic, l.region.version, l.region.rank, l.region.size = magic, version, uint32(rank), uint32(ranks)
	return l, nil
}

// Environment is what the programs need to find the server and the provider in dir.
func (s *Server) Environment(dir string) []string {
	env := []string{
		"NICLOOP_MPI_SOCKET=" + s.name,
		"FI_PROVIDER_PATH=" + dir,
		"FI_PROVIDER=nicloop", // the start of the others takes longer than a short run
		"LD_PRELOAD=" + filepath.Join(dir, LibraryName),
	}
	if s.Compute > 0 {
		env = append(env, "NICLOOP_MPI_MEASURE=1")
	}
	return env
}

// accept serves connections until Close.
func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil {
			return
		}
		go func() {
			if err := s.attach(c); err != nil {
				s.Warn(fmt.Sprintf("a program that connected is refused: %v", err))
			}
			_ = c.Close()
		}()
	}
}

// attach gives a program the memory of its rank and waits until it ends.
func (s *Server) attach(c *net.UnixConn) error {
	var hello [4]uint32
	b := unsafe.Slice((*byte)(unsafe.Pointer(&hello)), unsafe.Sizeof(hello))
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	rank, pid := int(int32(hello[2])), int32(hello[3])
	switch {
	case hello[0] != magic || hello[1] != version:
		return fmt.Errorf("version %d of the shared memory, expected %d", hello[1], version)
	case rank < 0 || rank >= len(s.links):
		return fmt.Errorf("rank %d, expected 0 to %d", rank, len(s.links)-1)
	}
	l := s.links[rank]
	if !l.pid.CompareAndSwap(0, pid) {
		return fmt.Errorf("process %d as rank %d, which is process %d", pid, rank, l.pid.Load())
	}
	if _, _, err := c.WriteMsgUnix([]byte{1}, syscall.UnixRights(int(l.file.Fd())), nil); err != nil {
		return err
	}
	close(l.connected)
	_, _ = io.Copy(io.Discard, c) // until the program ends
	if !l.left.Load() {
		s.firstDead.CompareAndSwap(0, int32(l.rank)+1)
	}
	l.dead.Store(true)
	l.region.wake()
	return nil
}

// End fails everything: no program connects any more, and calls of those that have connected return
// an error. Serve returns cause.
func (s *Server) End(cause error) {
	s.endOnce.Do(func() {
		s.endCause = cause
		close(s.ended)
	})
	for _, l := range s.links {
		l.region.end()
		l.region.wake()
	}
}

// hasEnded tells why the server has ended, if it has.
func (s *Server) hasEnded() error {
	select {
	case <-s.ended:
		return s.endCause
	default:
		return nil
	}
}

// Close ends all connections. The programs have ended, or are about to.
func (s *Server) Close() error {
	s.End(errors.New("the world has ended"))
	err := s.listener.Close()
	for _, l := range s.links {
		err = errors.Join(err, l.file.Close())
	}
	return err // the memory stays mapped: goroutines of attach may still wake a rank
}

// Awaited describes the rank whose next call the world waits for, or "".
func (s *Server) Awaited() string {
	n := s.world.awaited.Load()
	if n == 0 {
		return ""
	}
	where := "outside of MPI"
	if call := s.links[n-1].region.mpiCall(); call != "" {
		where = "in " + call
	}
	return fmt.Sprintf("the world waits for rank %d, which is %s and does not call libfabric", n-1, where)
}

// Connected is how many programs have connected.
func (s *Server) Connected() (n int) {
	for _, l := range s.links {
		if l.pid.Load() != 0 {
			n++
		}
	}
	return n
}
