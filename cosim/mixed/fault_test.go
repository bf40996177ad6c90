package mixed

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

func openSystem(t *testing.T, opt drivers.Options) *System {
	t.Helper()
	if opt.Nodes = 4; opt.MemoryBytes == 0 {
		opt.MemoryBytes = memory
	}
	s := opened(t, "mixed:?rtl=1", opt).(*System)
	for n := range opt.Nodes {
		setUp(s, n)
	}
	return s
}

// keepBusy makes a node send lines to another, where they are dropped.
func keepBusy(s *System, from, to, lines int) {
	for range lines {
		s.PostPIO(from, s.Now(), uint32(regs.PioFields{DstNode: uint8(to), DstVPID: procs, Length: 56}.Pack()), make([]byte, 56))
	}
}

// TestKilledSimulator: the simulator is killed, during a run or between two. The same error is
// returned from then on, and nothing is left behind.
func TestKilledSimulator(t *testing.T) {
	for _, inside := range []bool{true, false} {
		before := runtime.NumGoroutine()
		s := openSystem(t, drivers.Options{})
		var stop drivers.Stop
		require.NoError(t, s.Run(start, &stop))
		keepBusy(s, 0, 1, 1000)
		keepBusy(s, 1, 0, 1000)
		kill := func() { require.NoError(t, syscall.Kill(s.Pid(), syscall.SIGKILL)) }
		if inside {
			time.AfterFunc(time.Millisecond, kill)
		} else {
			kill()
		}
		err := s.Run(1<<24, &stop)
		require.ErrorIs(t, err, drivers.ErrPeerDied)
		require.Equal(t, err, s.Run(1<<25, &stop))
		_, err = s.Device(0).ReadReg(regs.NodeID)
		require.ErrorIs(t, err, drivers.ErrPeerDied)
		require.ErrorIs(t, s.Device(1).WriteReg(regs.Scratch, 1), drivers.ErrPeerDied)
		require.NoError(t, s.Close())
		require.ErrorIs(t, s.Run(1<<25, &stop), drivers.ErrClosed)
		for i := 0; runtime.NumGoroutine() > before; i++ {
			require.Less(t, i, 500, "a goroutine is left")
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Close from another goroutine ends a run on either side.
func TestCloseDuringRun(t *testing.T) {
	for _, node := range []int{0, 1} {
		s := openSystem(t, drivers.Options{})
		var stop drivers.Stop
		require.NoError(t, s.Run(start, &stop))
		keepBusy(s, node, node, 200_000)
		time.AfterFunc(5*time.Millisecond, func() { s.Close() })
		require.ErrorIs(t, s.Run(drivers.Forever, &stop), drivers.ErrClosed)
		_, err := s.Device(node).ReadReg(regs.NodeID)
		require.ErrorIs(t, err, drivers.ErrClosed)
	}
}

// Invalid frames to the simulator end the system.
func TestBadFramesToSimulator(t *testing.T) {
	for want, e := range map[string]bridge.Edge{
		"no link of this process leads out there":  {Node: 1, Link: 5, At: 2000, Flit: true},
		"expected no cycle before":                 {Node: 1, Link: 1, At: 1, Flit: true},
		"expected virtual channels below 3":        {Node: 1, Link: 1, At: 2000, Flit: true, VC: 3},
		"node 9, but there are 4":                  {Node: 9, Link: 1, At: 2000},
		"EDGE of node 0, link 0, cycle 2000: no l": {Node: 0, Link: 0, At: 2000},
	} {
		s := openSystem(t, drivers.Options{})
		var stop drivers.Stop
		require.NoError(t, s.Run(start, &stop))
		s.rtl.PostEdge(&e)
		keepBusy(s, 1, 0, 1)
		err := s.Run(drivers.Forever, &stop)
		require.ErrorIs(t, err, drivers.ErrProtocol)
		require.ErrorContains(t, err, want)
		require.Equal(t, err, s.Run(drivers.Forever, &stop))
	}
}

// Impossible words from a node of the RTL are an error, not a panic.
func TestBadFramesFromSimulator(t *testing.T) {
	head := regs.HeaderFields{Type: regs.PacketTypeVELO, Length: 8, SrcNode: 1}.Pack()
	flit := func(data uint64, marks ...bool) bridge.Edge {
		return bridge.Edge{Node: 1, Link: 1, At: 100, Flit: true, Data: data, Head: marks[0], Tail: marks[1]}
	}
	long := regs.HeaderFields{Type: regs.PacketTypeVELO, Length: 1023, SrcNode: 1}.Pack()
	answer := flit(uint64(head), true, false)
	answer.VC = 1
	for want, list := range map[string][]bridge.Edge{
		"no link to a node of the model":     {{Node: 1, Link: 0, At: 100, Flit: true}},
		"or no virtual channel":              {{Node: 1, Link: 1, At: 100, Freed: 1 << regs.VCs}},
		"a credit that nothing was sent for": {{Node: 1, Link: 1, At: 100, Freed: 1}},
		"a packet without head":              {flit(0, false, false)},
		"a head inside a packet":             {flit(uint64(head), true, false), flit(uint64(head), true, false)},
		"of another length than its header":  {flit(uint64(head), true, true)},
		"header says, 3 flits":               {flit(uint64(head), true, false), flit(0, false, false), flit(0, false, false)},
		"a packet longer than any":           {flit(uint64(long), true, false)},
		"an answer without a request":        {answer},
	} {
		r, err := parse("", map[string]string{"rtl": "1", "dims": "2x2"}, &drivers.Options{})
		require.NoError(t, err)
		s := newSystem(r)
		m, f, err := model.NewInside(r.params, drivers.Options{}, func(node int) bool { return s.isRTL[node] })
		require.NoError(t, err)
		s.connect(nil, m, f, drivers.Info{})
		err = s.border.take(list)
		require.ErrorIs(t, err, drivers.ErrProtocol)
		require.ErrorContains(t, err, want)
	}
}

// Wire faults and draining or resetting links are refused in every form.
func TestFaultsOfWires(t *testing.T) {
	s := openSystem(t, drivers.Options{})
	var stop drivers.Stop
	for _, x := range []struct {
		off uint32
		v   uint64
	}{{regs.WireErrors(0), 1}, {regs.WireSeed(3), 1}, {regs.LinkCtrl(0), regs.LinkCtrlReset}, {regs.LinkCtrl(1), regs.LinkCtrlDrain}} {
		s.PostReg(1, 0, x.off, x.v)
		require.ErrorIs(t, s.Run(start, &stop), drivers.ErrNotSupported, regs.Describe(x.off))
	}
	s.PostReg(1, 0, regs.LinkCtrl(0), 0)
	require.NoError(t, s.Run(start, &stop))
}

// Waves show the nodes of the RTL.
func TestWaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waves.fst")
	s := openSystem(t, drivers.Options{Waves: &drivers.WaveWindow{File: file, From: start, To: start + 100}})
	var stop drivers.Stop
	require.NoError(t, s.Run(start, &stop))
	keepBusy(s, 0, 1, 3)
	require.NoError(t, s.Run(start+300, &stop))
	require.NoError(t, s.Close())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(1000))
}

// TestStops: an event stops both sides in its cycle, so that software may react immediately on any
// node.
func TestStops(t *testing.T) {
	type end struct {
		now   drivers.Cycle
		fired []drivers.Fired
	}
	play := func(uri string) (list []end) {
		m := opened(t, uri, drivers.Options{Nodes: 4, MemoryBytes: memory})
		var stop drivers.Stop
		ids := map[int]drivers.WatchID{}
		for n := range 4 {
			setUp(m, n)
			m.PostReg(n, 0, regs.IRQMask, ^uint64(0))
			m.PostReg(n, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow|regs.MboxCtrlIRQArrival)
			id, err := m.Watch(n, 0, rings)
			require.NoError(t, err)
			ids[n] = id
		}
		require.NoError(t, m.Run(start, &stop))
		send := func(from, to int) {
			m.PostPIO(from, m.Now(), uint32(regs.PioFields{DstNode: uint8(to), Length: 20}.Pack()), make([]byte, 20))
		}
		for i := range 40 {
			for n := range 4 {
				m.Arm(ids[n])
				if i == n { // once: when a line falls again, the model may be some cycles earlier
					m.ArmIRQ(n)
				}
				if i%4 == 0 {
					m.ArmPIO(n, 0, m.PIOTaken(n, 0)+1)
				}
			}
			send(i%4, (i+1+i/4)%4)
			send((i+2)%4, (i+3)%4)
			if i%5 == 0 {
				v, err := m.Device(i / 5 % 4).ReadReg(regs.RXPackets)
				require.NoError(t, err)
				list = append(list, end{now: drivers.Cycle(v)})
			}
			require.NoError(t, m.Run(m.Now()+400, &stop))
			list = append(list, end{stop.Now, append([]drivers.Fired(nil), stop.Fired...)})
		}
		return list
	}
	want := play("rtl:")
	for _, nodes := range []string{"0", "1,2", "0,1,3"} {
		require.Equal(t, want, play("mixed:?rtl="+nodes), nodes)
	}
}
