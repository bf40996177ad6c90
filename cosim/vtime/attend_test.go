package vtime

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// A receiver takes packets from the mailbox of a process and records when it found them.
type receiver struct {
	p     *Proc
	taken uint32
	seen  []drivers.Time
	looks int
}

// poll takes a packet, if there is one, and answers every third.
func (r *receiver) poll(t *testing.T) bool {
	r.looks++
	at := r.taken % 4 * regs.SlotBytes
	header := binary.LittleEndian.Uint64(r.p.Device().Memory()[at+regs.SlotHdrOff:])
	if regs.Slot(header).Seq() != r.taken+1 {
		return false
	}
	r.taken++
	r.p.Spend(25 * ns)
	r.seen = append(r.seen, r.p.Now())
	require.NoError(t, r.p.Device().WriteReg(regs.MboxRP(0), uint64(r.taken)))
	if r.taken%3 == 0 {
		require.NoError(t, r.p.Device().WritePIO(line(1), make([]byte, 8)))
	}
	return true
}

type worker func() (bool, drivers.Time)

func (w worker) Work() (bool, drivers.Time) { return w() }

const attended, lookTime = 200, 10 * ns

// receive runs a receiver beside a sender that pauses from time to time, and a process that only
// spends time, so that another process often has to run first.
func receive(t *testing.T, wait func(r *receiver)) (r *receiver, end drivers.Time) {
	k, procs := world(t, Config{PIOWrite: 40 * ns, RegWrite: 20 * ns, Wake: 60 * ns, PIODepth: 8})
	r = &receiver{p: procs[1]}
	answers := &receiver{p: procs[0]}
	require.NoError(t, k.Run(func(i int) error {
		if i == 1 {
			wait(r)
			return nil
		}
		rnd := rand.New(rand.NewSource(1))
		for range attended {
			if err := procs[0].Device().WritePIO(line(0), make([]byte, 8)); err != nil {
				return err
			}
			procs[0].Spend(drivers.Time(rnd.Intn(3)*rnd.Intn(400)) * ns)
			procs[0].Sync()
			for answers.taken < r.taken/3 && answers.poll(t) {
			}
		}
		return nil
	}))
	return r, k.Now()
}

// TestAttendIsTheLoop: the work of an attending process happens at the same times as in an explicit
// loop.
func TestAttendIsTheLoop(t *testing.T) {
	for name, until := range map[string]func(p *Proc) drivers.Time{
		"forever":  func(*Proc) drivers.Time { return drivers.Never },
		"a moment": func(p *Proc) drivers.Time { return p.Now() + 90*ns },
	} {
		work := func(r *receiver) (bool, drivers.Time) {
			for r.taken < attended {
				if !r.poll(t) {
					return false, until(r.p)
				}
			}
			return true, 0
		}
		resumed := uint64(0)
		got, end := receive(t, func(r *receiver) {
			r.p.Attend(worker(func() (bool, drivers.Time) { return work(r) }), lookTime)
			resumed = r.p.resumes
		})
		want, wantEnd := receive(t, func(r *receiver) {
			for {
				done, until := work(r)
				if done {
					return
				}
				if !r.p.Sync() {
					r.p.WaitArrival(until)
					r.p.Spend(lookTime)
				}
			}
		})
		require.Len(t, want.seen, attended, name)
		require.Equal(t, want.seen, got.seen, name)
		require.Equal(t, want.looks, got.looks, name)
		require.Equal(t, wantEnd, end, name)
		require.Greater(t, resumed, uint64(attended/2), "%s: the receiver never slept, so this says nothing", name)
	}
}

func TestAttendMustNotWait(t *testing.T) {
	k, procs := world(t, Config{PIODepth: 2})
	require.PanicsWithValue(t, "vtime: what a process attends to waits: it must not, see Attend", func() {
		_ = k.Run(func(i int) error {
			procs[i].Attend(worker(func() (bool, drivers.Time) {
				procs[i].WaitArrival(drivers.Never)
				return true, 0
			}), 0)
			return nil
		})
	})
}

func TestRoom(t *testing.T) {
	k, procs := world(t, Config{PIODepth: 3})
	require.NoError(t, k.Run(func(i int) error {
		p := procs[i]
		for left := 3; left > 0; left-- {
			require.True(t, p.Room(left))
			require.False(t, p.Room(left+1))
			require.NoError(t, p.Device().WritePIO(line(i), make([]byte, 8)))
		}
		require.False(t, p.Room(1))
		p.Spend(drivers.Microsecond)
		p.Sync()
		require.True(t, p.Room(3), "the NIC has taken them all")
		return nil
	}))
}
