package vtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// A crowd is two processes on each node of a machine.
type crowd struct {
	t     testing.TB
	m     *nic.Machine
	k     *Kernel
	procs []*Proc
	logs  [][]string
	read  []uint32 // slots read, by process
}

func newCrowd(t testing.TB, nodes, parts int, limit drivers.Time) *crowd {
	c := &crowd{t: t, m: wired(t, nodes, parts)}
	c.k = New(c.m, Config{PIOWrite: 40 * ns, RegWrite: 10 * ns, Wake: 60 * ns, PIODepth: 2, Limit: limit})
	for i := range 2 * nodes {
		p := c.k.Add(i/2, i%2)
		require.NoError(t, p.WatchArrivals(uint64(i%2)<<12, slots*regs.SlotBytes))
		c.procs = append(c.procs, p)
	}
	c.logs, c.read = make([][]string, len(c.procs)), make([]uint32, len(c.procs))
	c.follow(always(true))
	return c
}

// follow makes the crew follow a script.
func (c *crowd) follow(s script) {
	if m := c.k.loops[0].with; m != nil {
		m.crew.script = s
	}
}

func (c *crowd) note(i int, format string, args ...any) {
	c.logs[i] = append(c.logs[i], fmt.Sprintf("%v cycle %d: ", c.procs[i].Now(), c.procs[i].Cycle())+fmt.Sprintf(format, args...))
}

func (c *crowd) send(i, to, k int) error {
	var line [16]byte
	binary.LittleEndian.PutUint64(line[:], uint64(i))
	binary.LittleEndian.PutUint64(line[8:], uint64(k))
	off := regs.PioFields{Length: 16, DstNode: uint8(to / 2), DstVPID: uint8(to % 2), SrcVPID: uint8(i % 2)}.Pack()
	return c.procs[i].Device().WritePIO(uint32(off), line[:])
}

// take receives the packets in process i's mailbox.
func (c *crowd) take(i int) (n int, err error) {
	p := c.procs[i]
	for {
		base := i%2<<12 + int(c.read[i]%slots)*regs.SlotBytes
		slot := p.Device().Memory()[base : base+regs.SlotBytes]
		if h := regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:])).Fields(); h.Seq != c.read[i]+1 {
			return n, nil
		}
		c.read[i]++
		n++
		c.note(i, "got %x", slot[:16])
		p.Spend(25 * ns)
		if err := p.Device().WriteReg(regs.MboxRP(uint8(i%2)), uint64(c.read[i])); err != nil {
			return n, err
		}
	}
}

// wait receives at least one packet.
func (c *crowd) wait(i int) (int, error) {
	for {
		if n, err := c.take(i); n > 0 || err != nil {
			return n, err
		}
		if !c.procs[i].Sync() {
			c.procs[i].WaitArrival(drivers.Never)
		}
		if err := c.procs[i].Err(); err != nil {
			return 0, err
		}
	}
}

// chat makes every process send to others and receive everything sent to it, with some host work in
// between.
func (c *crowd) chat(i int) error {
	const messages = 40
	rnd := rand.New(rand.NewPCG(1, uint64(i)))
	got := 0
	for k := range messages {
		if rnd.IntN(8) == 0 {
			c.procs[i].Spend(drivers.Time(rnd.IntN(20000)) * ns)
		}
		if rnd.IntN(4) == 0 {
			c.procs[i].Wake(i^1, c.procs[i].Now()+50*ns)
		}
		to := (i + 1 + k*7) % len(c.procs) // a permutation in every round
		if err := c.send(i, to, k); err != nil {
			return err
		}
		n, err := c.take(i)
		if err != nil {
			return err
		}
		got += n
	}
	for got < messages {
		n, err := c.wait(i)
		if err != nil {
			return err
		}
		got += n
	}
	c.note(i, "done")
	return nil
}

// state is the complete visible state of an idle machine.
func (c *crowd) state() (list []string) {
	var stop drivers.Stop
	for !stop.Quiet {
		require.NoError(c.t, c.m.Run(drivers.Forever, &stop))
	}
	list = append(list, fmt.Sprintf("%d idle %v", stop.Now, stop.Idle))
	for n := range c.m.Info().Nodes {
		for _, off := range []uint32{regs.TXPackets, regs.RXPackets, regs.TXStall, regs.RXStall, regs.MboxWP(0), regs.MboxRP(1)} {
			v, err := c.m.Device(n).ReadReg(off)
			require.NoError(c.t, err)
			list = append(list, fmt.Sprintf("node %d 0x%x: %d at %d", n, off, v, c.m.Now()))
		}
		list = append(list, fmt.Sprintf("%x", c.m.Device(n).Memory()))
	}
	return list
}

// TestThreadsChangeNothing: any number of processes, on one thread and on several.
func TestThreadsChangeNothing(t *testing.T) {
	for _, nodes := range []int{2, 5, 16} {
		run := func(parts int) (logs [][]string, state []string) {
			c := newCrowd(t, nodes, parts, 0)
			for range 2 { // a run starts in the state left by the previous one
				require.NoError(t, c.k.Run(c.chat))
				state = append(state, c.state()...)
			}
			return c.logs, state
		}
		logs, state := run(1)
		for _, parts := range []int{2, 3} {
			if parts > nodes {
				continue
			}
			l, s := run(parts)
			require.Equal(t, logs, l, "%d nodes, %d parts", nodes, parts)
			require.Equal(t, state, s, "%d nodes, %d parts", nodes, parts)
		}
	}
}

// TestPartsInOneThread: a caller that uses the machine as a Timed does not observe its parts.
func TestPartsInOneThread(t *testing.T) {
	run := func(parts int) (seen []string) {
		m := wired(t, 6, parts)
		rnd := rand.New(rand.NewPCG(2, 3))
		var stop drivers.Stop
		for k := range 400 {
			src, dst := rnd.IntN(6), rnd.IntN(6)
			id, err := m.Watch(dst, 0, 1<<12)
			require.NoError(t, err)
			m.Arm(id)
			off := regs.PioFields{Length: 8, DstNode: uint8(dst)}.Pack()
			m.PostPIO(src, m.Now()+drivers.Cycle(rnd.IntN(40)), uint32(off), []byte{byte(k), 0, 0, 0, 0, 0, 0, 0})
			m.ArmPIO(src, 0, m.PIOTaken(src, 0)+1)
			deadline := m.Now() + drivers.Cycle(rnd.IntN(80))
			if rnd.IntN(3) == 0 {
				deadline = drivers.Forever
			}
			require.NoError(t, m.Run(deadline, &stop))
			seen = append(seen, fmt.Sprint(stop))
			wp, err := m.Device(dst).ReadReg(regs.MboxWP(0))
			require.NoError(t, err)
			m.PostReg(dst, m.Now(), regs.MboxRP(0), wp)
			seen = append(seen, fmt.Sprint(wp, m.Now()))
		}
		return seen
	}
	want := run(1)
	require.Equal(t, want, run(2))
	require.Equal(t, want, run(6))
}

// TestEndingsOfThreads: a hang, limit, error, panic or exit of a process's goroutine in either part
// ends all threads with the result of one thread, in either mode.
func TestEndingsOfThreads(t *testing.T) {
	scripts(t, 3, func(s script) { testEndings(t, s) })
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < 10 }, time.Second, time.Millisecond, "goroutines are left")
}

func testEndings(t *testing.T, s script) {
	for _, bad := range []int{0, 7} {
		run := func(parts int, limit drivers.Time, body func(c *crowd, i int) error) (*crowd, error) {
			c := newCrowd(t, 4, parts, limit)
			c.follow(s)
			return c, c.k.Run(func(i int) error {
				if i != bad {
					return c.chat(i)
				}
				c.procs[i].Spend(3 * drivers.Microsecond)
				c.procs[i].Sync()
				return body(c, i)
			})
		}
		both := func(limit drivers.Time, body func(c *crowd, i int) error) error {
			one, want := run(1, limit, body)
			two, got := run(2, limit, body)
			require.Equal(t, want, got)
			require.Equal(t, one.k.Now(), two.k.Now())
			require.Equal(t, one.logs, two.logs)
			require.Equal(t, one.state(), two.state())
			return got
		}
		silent := func(c *crowd, i int) error {
			c.procs[i].WaitArrival(drivers.Never)
			return nil
		}
		var hang *HangError
		require.ErrorAs(t, both(0, silent), &hang)
		require.ErrorAs(t, both(drivers.Second, silent), &hang, "before the limit")
		var limit *LimitError
		require.ErrorAs(t, both(8*drivers.Microsecond, silent), &limit)
		require.ErrorAs(t, both(10001*ns/3, func(c *crowd, i int) error { // between two cycles
			for c.procs[i].Err() == nil {
				c.procs[i].Spend(ns)
				c.procs[i].Sync()
			}
			return c.procs[i].Err()
		}), &limit)

		broken := errors.New("broken")
		_, err := run(2, 0, func(*crowd, int) error { return broken })
		require.ErrorIs(t, err, broken)
		_, err = run(2, 0, func(c *crowd, i int) error {
			return c.procs[i].Device().WritePIO(uint32(regs.PioFields{DstNode: 60}.Pack()), nil)
		})
		var bus *drivers.BusError
		require.ErrorAs(t, err, &bus)
		require.Equal(t, bad/2, bus.Node)
		_, err = run(2, 0, func(c *crowd, i int) error {
			_, err := c.procs[i].Device().ReadReg(regs.Magic)
			return err
		})
		require.ErrorIs(t, err, drivers.ErrNotSupported)
		_, err = run(2, 0, func(c *crowd, i int) error {
			require.NoError(t, c.m.Close())
			c.procs[i].Spend(ns)
			_, err := c.wait(i)
			return err
		})
		require.ErrorIs(t, err, drivers.ErrClosed)
		require.PanicsWithValue(t, "oh", func() { _, _ = run(2, 0, func(*crowd, int) error { panic("oh") }) })
		done := make(chan bool)
		go func() {
			defer close(done)
			_, _ = run(2, 0, func(*crowd, int) error { runtime.Goexit(); return nil })
			t.Error("a process's exit was swallowed")
		}()
		<-done
	}
}

// TestPacketsChangeHands: unidirectional traffic allocates no more packets than are in flight.
func TestPacketsChangeHands(t *testing.T) {
	scripts(t, 1, func(s script) { testPacketsChangeHands(t, s) })
}

func testPacketsChangeHands(t *testing.T, s script) {
	c := newCrowd(t, 2, 2, 0)
	c.follow(s)
	const messages = 3000
	ticks := 0
	c.k.OnTick(func() {
		ticks++
		require.Len(t, c.k.states(), 4) // reads all processes
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, c.k.Run(func(i int) error {
		switch i {
		case 0:
			for k := range messages {
				if err := c.send(i, 2, k); err != nil {
					return err
				}
			}
		case 2:
			for got := 0; got < messages; {
				n, err := c.wait(i)
				if err != nil {
					return err
				}
				got += n
				c.logs[i] = c.logs[i][:0]
			}
		}
		return nil
	}))
	runtime.ReadMemStats(&after)
	require.NotZero(t, ticks)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), "bytes; a packet has more than 500")
}
