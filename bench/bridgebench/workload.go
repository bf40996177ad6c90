package bridgebench

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Mailbox layout of both benches; bare/bare.cpp uses the same numbers.
const (
	ringBase  = 0x10000
	ringSlots = 1024
	rpBatch   = 64
	window    = 16
	setup     = 200 // limit of cycles for opening the mailboxes
)

// A bench drives a new system; errors of the system panic with benchError.
type bench struct {
	sys     drivers.Timed
	mem     [2][]byte
	watches [2][ringSlots]drivers.WatchID
	stop    drivers.Stop
	line    [8]byte
	done    uint64        // completed transactions
	runs    int           // calls of Run
	inRun   time.Duration // time spent in Run
}

func newBench(sys drivers.Timed) (*bench, error) {
	b := &bench{sys: sys}
	for node := range 2 {
		b.mem[node] = sys.Device(node).Memory()
		sys.PostReg(node, 0, regs.PDID(0), 1)
		sys.PostReg(node, 0, regs.MboxBase(0), ringBase)
		sys.PostReg(node, 0, regs.MboxSlots(0), ringSlots)
		sys.PostReg(node, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		for i := range ringSlots {
			id, err := sys.Watch(node, ringBase+uint64(i)*regs.SlotBytes, regs.SlotBytes)
			if err != nil {
				return nil, err
			}
			b.watches[node][i] = id
		}
	}
	return b, sys.Run(setup, &b.stop)
}

func (b *bench) send(from, to int, quad uint64) {
	binary.LittleEndian.PutUint64(b.line[:], quad)
	off := regs.PioFields{Length: 8, DstNode: uint8(to)}.Pack()
	b.sys.PostPIO(from, b.sys.Now(), uint32(off), b.line[:])
}

// receive waits for message n (from 0) in the mailbox of node.
func (b *bench) receive(node int, n uint64) error {
	b.sys.Arm(b.watches[node][n%ringSlots])
	start := time.Now()
	if err := b.sys.Run(drivers.Forever, &b.stop); err != nil {
		return err
	}
	b.inRun += time.Since(start)
	b.runs++
	if len(b.stop.Fired) != 1 {
		return fmt.Errorf("message %d to node %d did not arrive: %+v", n, node, b.stop)
	}
	return nil
}

// check compares the payload of message n.
func (b *bench) check(node int, n, want uint64) error {
	slot := b.mem[node][ringBase+n%ringSlots*regs.SlotBytes:]
	seq := regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:])).Seq()
	if got := binary.LittleEndian.Uint64(slot); got != want || seq != uint32(n+1) {
		return fmt.Errorf("message %d to node %d: expected 0x%x, found 0x%x with sequence number %d", n, node, want, got, seq)
	}
	return nil
}

func (b *bench) consumed(node int, count uint64) {
	if count%rpBatch == 0 {
		b.sys.PostReg(node, b.sys.Now(), regs.MboxRP(0), count)
	}
}

func (b *bench) hop(from, to int, n, quad uint64) error {
	b.send(from, to, quad)
	if err := b.receive(to, n); err != nil {
		return err
	}
	b.consumed(to, n+1)
	return b.check(to, n, quad)
}

func (b *bench) pingPong(from, to uint64) error {
	for n := from; n < to; n++ {
		if err := b.hop(0, 1, n, n); err != nil {
			return err
		}
		if err := b.hop(1, 0, n, ^n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) stream(from, to uint64) error {
	sent, done := from, from
	for done < to {
		for ; sent < to && sent < done+window; sent++ {
			b.send(0, 1, sent)
		}
		upto := min(done+window/2, to)
		if err := b.receive(1, upto-1); err != nil {
			return err
		}
		for ; done < upto; done++ {
			if err := b.check(1, done, done); err != nil {
				return err
			}
			b.consumed(1, done+1)
		}
	}
	return nil
}

// A sample is one round of one side.
type sample struct {
	cycles  uint64
	elapsed time.Duration
	model   time.Duration // CPU time of the simulator process; 0 if there is none
	host    time.Duration // CPU time of this process, including polling or the model itself
	outside time.Duration // elapsed between two Runs: host work
	runs    int
}

func (s *sample) processor() time.Duration { return s.model + s.host }

// round continues a workload up to a total number of transactions. pid is the simulator, or 0.
func (b *bench) round(workload string, pid int, to uint64) (s sample, err error) {
	run := b.pingPong
	if workload == Stream {
		run = b.stream
	}
	b.runs, b.inRun = 0, 0
	from, model, host, start := b.sys.Now(), processorTime(pid), processorTime(0), time.Now()
	err = run(b.done, to)
	s.elapsed = time.Since(start)
	if s.host = processorTime(0) - host; pid != 0 {
		s.model = processorTime(pid) - model
	}
	s.cycles, s.runs, s.outside = uint64(b.sys.Now()-from), b.runs, s.elapsed-b.inRun
	b.done = to
	return s, err
}

// processorTime is the CPU time of a process, of this one if pid is 0: the clock that
// clock_getcpuclockid names.
func processorTime(pid int) time.Duration {
	const scheduled = 2 // user and system time, exactly
	var t unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|scheduled, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
