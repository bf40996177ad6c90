package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// onIdeal is a small configuration on the functional NIC.
func onIdeal(workload string) Config {
	c := Default(workload)
	c.Device, c.Nodes, c.Procs = "ideal:", 3, 2
	return c
}

// launch runs body on every rank of a world.
func launch(t *testing.T, c Config, body func(r *host.Rank) error) error {
	t.Helper()
	w, err := openWorld(context.Background(), c, nil, drivers.CanSimulate)
	require.NoError(t, err)
	defer w.Sys.Close()
	return w.run(context.Background(), body)
}

func TestWorkloadsWithEveryFlowControl(t *testing.T) {
	for _, wl := range Workloads() {
		for _, flow := range []velo.Flow{velo.None, velo.Static, velo.Dynamic} {
			for _, slots := range []int{4, 9, 64} {
				if flow == velo.None && slots < 64 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", wl.Name, flow, slots), func(t *testing.T) {
					c := onIdeal(wl.Name)
					c.Velo.Flow, c.Velo.Slots = flow, slots
					if flow == velo.None {
						c.Velo.Slots = 400
					}
					fitApp(&c)
					if MeasuresOverlap(wl.Name) || wl.steps || wl.computes { // their many measurements of long messages are seconds
						c.Sizes, c.Iterations = []int{64, 4096}, 2
					}
					res, err := Run(context.Background(), c)
					require.NoError(t, err)
					require.Equal(t, wl.Name != "barrier", res.Verified > 0)
					for _, n := range res.NICs {
						require.Zero(t, n.RxStall, "node %d stalled: flow control must avoid that", n.Node)
					}
				})
			}
		}
	}
}

// TestNoStallInLongRuns: a write of the read pointer is under way while packets are, so a mailbox
// may look fuller to the hardware than it is; rarely enough that only many messages show it.
func TestNoStallInLongRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("is long")
	}
	for seed := int64(1); seed <= 3; seed++ {
		c := Default("random")
		c.Device, c.Nodes, c.Iterations, c.Seed = "model:", 2, 20000, seed
		_, err := Run(context.Background(), c)
		require.NoError(t, err, "seed %d: nicloop run random --nodes 2 --iterations 20000 --seed %d --device model:", seed, seed)
	}
}

func TestSameConfigSameResult(t *testing.T) {
	run := func(seed int64) ([]byte, []byte) {
		c := onIdeal("random")
		var pcap bytes.Buffer
		c.Seed, c.Pcap, c.Velo.Slots = seed, &pcap, 6
		res, err := Run(context.Background(), c)
		require.NoError(t, err)
		b, err := json.Marshal(res)
		require.NoError(t, err)
		return b, pcap.Bytes()
	}
	a, pa := run(5)
	b, pb := run(5)
	require.Equal(t, string(a), string(b))
	require.Equal(t, pa, pb)
	c, pc := run(6)
	require.NotEqual(t, string(a), string(c))
	require.NotEqual(t, pa, pc)
}

func TestMatching(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 3, 1
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		var b [8]byte
		switch r.ID() {
		case 1: // three messages: the tags decide, then the order
			for _, m := range []struct {
				tag int
				s   string
			}{{7, "first"}, {8, "second"}, {7, "third"}} {
				if err := r.Send(0, m.tag, []byte(m.s)); err != nil {
					return err
				}
			}
		case 2:
			return r.Send(0, 9, []byte("other"))
		case 0:
			for _, want := range []struct {
				source, tag int
				s           string
			}{{1, 8, "second"}, {host.AnySource, 9, "other"}, {1, host.AnyTag, "first"}, {1, 7, "third"}} {
				st, err := r.Recv(want.source, want.tag, b[:])
				if err != nil {
					return err
				}
				if got := string(b[:st.Bytes]); got != want.s {
					return fmt.Errorf("receive (source %d, tag %d) got %q, expected %q", want.source, want.tag, got, want.s)
				}
			}
		}
		return nil
	}))
}

func TestTruncationIsAnError(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	err := launch(t, c, func(r *host.Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 1, make([]byte, 100))
		}
		_, err := r.Recv(0, 1, make([]byte, 99))
		return err
	})
	require.ErrorIs(t, err, host.ErrTruncated)
	require.ErrorContains(t, err, "100 bytes from rank 0 with tag 1, buffer of 99")
}

func TestBadCalls(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	for name, call := range map[string]func(r *host.Rank) error{
		"nobody":   func(r *host.Rank) error { return r.Send(2, 1, nil) },
		"too long": func(r *host.Rank) error { return r.Send(1-r.ID(), 1, make([]byte, host.EagerMax+1)) },
		"tag":      func(r *host.Rank) error { return r.Send(1-r.ID(), -1, nil) },
		"source":   func(r *host.Rank) error { _, err := r.Recv(-2, 1, nil); return err },
		"buffers":  func(r *host.Rank) error { return r.Alltoall(nil, nil, 8) },
	} {
		require.ErrorIs(t, launch(t, c, call), drivers.ErrConfig, name)
	}
}

// TestPacketsOfAMessage: FC paper, sections 3 and 5.3: 2 KB and the 16-byte
// header make 37 packets.
func TestPacketsOfAMessage(t *testing.T) {
	for n, want := range map[int]int{0: 1, 40: 1, 41: 2, 96: 2, 97: 3, 2044: 37, 2048: 37} {
		require.Equal(t, want, host.Packets(n), "%d bytes", n)
	}
	c := onIdeal("pingpong")
	c.Sizes, c.Iterations, c.Warmup = []int{2048}, 10, 0
	res, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.EqualValues(t, 2*10*37, res.Rows[0].Flow.DataPackets)
}

// TestPiggybackNeedsRoom: FC paper, section 5.4: messages of 2044 bytes carry
// credits, those of 2048 cannot.
func TestPiggybackNeedsRoom(t *testing.T) {
	for size, some := range map[int]bool{2044: true, 2048: false} {
		c := onIdeal("alltoall")
		c.Sizes, c.Velo = []int{size}, velo.Config{Flow: velo.Static, Slots: 20, CreditSlots: 2, Piggyback: true}
		c.Warmup = 0
		res, err := Run(context.Background(), c)
		require.NoError(t, err)
		// The barrier's empty messages (16 bytes: two full quadwords) have no room either.
		require.Equal(t, some, res.Rows[0].Flow.PiggybackedCredits > 0, "%d bytes", size)
	}
}

func TestVerdicts(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	err := launch(t, c, func(r *host.Rank) error {
		_, err := r.Recv(1-r.ID(), 1, nil)
		return err
	})
	var v *Verdict
	require.ErrorAs(t, err, &v)
	require.Equal(t, HostBlocked, v.Class)
	require.Equal(t, []string{
		"rank 0: receive from rank 1 (tag 1): no matching message",
		"rank 1: receive from rank 0 (tag 1): no matching message",
		"rank 0: closes the cycle",
	}, v.Chain)

	// Rank 1 has finished and never polls, so rank 0 runs out of credits: no protocol's fault.
	w, err := openWorld(context.Background(), c, nil, drivers.CanSimulate)
	require.NoError(t, err)
	defer w.Sys.Close()
	var hang *vtime.HangError
	err = w.Kernel.Run(func(i int) error {
		for i == 0 {
			if err := w.Ranks[i].Send(1, 1, make([]byte, 500)); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorAs(t, err, &hang)
	require.ErrorAs(t, w.explain(err), &v)
	require.Equal(t, HostBlocked, v.Class)
	require.Contains(t, v.Error(), "waits for a credit")
	require.Equal(t, "rank 1: finished; sends no more messages and returns no credits", v.Chain[len(v.Chain)-1])

	// If it had not, it would be.
	hang.Procs[1].State = vtime.AwaitArrival
	require.Equal(t, ProtocolDeadlock, w.classify(hang))

	// Without flow control the full mailbox stalls the hardware.
	c.Velo = velo.Config{Flow: velo.None, Slots: 2}
	err = launch(t, c, func(r *host.Rank) error {
		for r.ID() == 0 {
			if err := r.Send(1, 1, make([]byte, 500)); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorAs(t, err, &v)
	require.Equal(t, RTLStall, v.Class)
	require.Contains(t, v.Error(), "mailbox of vpid 0 full (2 of 2 slots)")
}

// TestCancelledRunSaysWhy: not that its device was closed.
func TestCancelledRunSaysWhy(t *testing.T) {
	cause := errors.New("enough")
	for _, device := range []string{"ideal:", "model:"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		c := onIdeal("alltoall")
		c.Device, c.Iterations = device, 1<<20
		c.Step = func(int, int) { cancel(cause) }
		_, err := Run(ctx, c)
		require.Equal(t, cause, err)
		c.Sizes = []int{8}
		require.Equal(t, cause, Launch(ctx, c, 1, func(r *host.Rank) error { return r.Barrier() }))
	}
}

func TestLimitIsAVerdict(t *testing.T) {
	c := onIdeal("alltoall")
	c.Limit = 20 * drivers.Microsecond
	_, err := Run(context.Background(), c)
	var v *Verdict
	require.ErrorAs(t, err, &v)
	require.Equal(t, Limited, v.Class)
	require.Equal(t, c.Limit, v.Limit)
	require.Contains(t, v.Error(), "limit of simulated time reached at 20.00 µs (--limit 20.00 µs)")
	require.NotContains(t, v.Error(), "no progress")
}

// TestUnmatchedMessagesAreListed: a message with a wrong bit in its tag is not "no message".
func TestUnmatchedMessagesAreListed(t *testing.T) {
	for name, n := range map[string]int{"eager": 24, "rendezvous": 3 * host.EagerMax} {
		t.Run(name, func(t *testing.T) {
			c := onIdeal("")
			c.Nodes, c.Procs, c.Sizes = 2, 1, []int{3 * host.EagerMax}
			err := launch(t, c, func(r *host.Rank) error {
				if r.ID() == 0 {
					return r.Send(1, 1|1<<9, make([]byte, n))
				}
				_, err := r.Recv(0, 1, make([]byte, n))
				return err
			})
			var v *Verdict
			require.ErrorAs(t, err, &v)
			require.Equal(t, HostBlocked, v.Class)
			require.Len(t, v.Unmatched, 1)
			require.Equal(t, n, v.Unmatched[0].Bytes)
			require.Contains(t, v.Error(), fmt.Sprintf("at rank 1: from rank 0, tag 513 (0x201), %d bytes", n))
			text, err := json.Marshal(v)
			require.NoError(t, err)
			require.Contains(t, string(text), `"unmatched":[{"rank":1,"source":0,"tag":513,`)
		})
	}
}

func TestUnreceivedMessageIsFound(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	err := launch(t, c, func(r *host.Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 1, nil)
		}
		return nil
	})
	require.ErrorContains(t, err, "a data packet from rank 0 was never received")
}

func TestMismatchIsFound(t *testing.T) {
	b := make([]byte, 100)
	fill(b, 3, 1, 2, 9)
	require.NoError(t, verify(b, 3, 1, 2, 9))
	b[77] ^= 0x10
	var m *MismatchError
	require.ErrorAs(t, verify(b, 3, 1, 2, 9), &m)
	require.Equal(t, 77, m.Offset)
	require.Error(t, verify(b, 3, 1, 2, 8))
}

// TestMismatchSaysWhere: the byte, its packet, and the cycle at which to look.
func TestMismatchSaysWhere(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs, c.Sizes = 2, 1, []int{2000}
	err := launch(t, c, func(r *host.Rank) error {
		b := make([]byte, 2000)
		if r.ID() == 0 {
			fill(b, c.Seed, 0, 1, 0)
			b[1000] ^= 1
			return r.Send(1, 1, b)
		}
		if _, err := r.Recv(0, 1, b); err != nil {
			return err
		}
		return verify(b, c.Seed, 0, 1, 0)
	})
	var m *MismatchError
	require.ErrorAs(t, err, &m)
	at := 1000 + host.HeaderBytes
	require.Contains(t, err.Error(), fmt.Sprintf("byte 1000 is 0x%02x, expected 0x%02x", m.Got, m.Want))
	require.Contains(t, err.Error(), fmt.Sprintf("byte %d of packet %d of %d; noticed at cycle ", at%regs.VELOPayload, at/regs.VELOPayload+1, host.Packets(2000)))
	require.NotZero(t, m.Cycle)
}

func TestCancelEndsARun(t *testing.T) {
	c := onIdeal("alltoall")
	c.Iterations = 1 << 20
	requireCancel(t, c, 50)
}

// requireCancel cancels a run after some steps, and expects the reason back.
func requireCancel(t *testing.T, c Config, after int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	steps := 0
	c.Step = func(int, int) {
		if steps++; steps == after {
			cancel(why)
		}
	}
	_, err := Run(ctx, c)
	require.ErrorIs(t, err, why)
}

// TestProgressWithinAnIteration: a long iteration shows how far it is, and never goes back; so do
// iterations that only post.
func TestProgressWithinAnIteration(t *testing.T) {
	for workload, iterations := range map[string]int{"alltoall": 1, "random": 20} {
		t.Run(workload, func(t *testing.T) { requireProgress(t, workload, iterations) })
	}
}

func requireProgress(t *testing.T, workload string, iterations int) {
	c := onIdeal(workload)
	c.Nodes, c.Procs, c.Iterations, c.Warmup = 8, 8, iterations, 0
	var seen []int
	var at []drivers.Cycle
	var sys drivers.Timed
	c.Opened = func(s drivers.Timed) error { sys = s; return nil }
	c.Step = func(done, of int) {
		require.Equal(t, 64*iterations, of)
		seen, at = append(seen, done), append(at, sys.Now())
	}
	_, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.IsIncreasing(t, seen)
	require.Equal(t, 64*iterations, seen[len(seen)-1])
	half := slices.IndexFunc(seen, func(n int) bool { return n >= 32*iterations })
	require.Less(t, at[0], at[len(at)-1]*3/4, "a barrier ends the iteration of all ranks together")
	require.Greater(t, at[half], at[len(at)-1]/8, "half done before anything has arrived")
}
