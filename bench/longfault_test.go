package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"testing"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/stretchr/testify/require"
)

var longDevice = flag.String("long-device", "model:", "where pages fault")

// pair is a world of two ranks for messages of up to n bytes.
func pair(p host.Rendezvous, n int) Config {
	c := onIdealLong(p, n)
	c.Nodes, c.Procs = 2, 1
	return c
}

// later lets a rank make progress until a time.
func later(r *host.Rank, at drivers.Time) error {
	for r.Now() < at {
		r.Compute(drivers.Microsecond)
		if _, _, err := r.Iprobe(host.AnySource, 77); err != nil {
			return err
		}
	}
	return nil
}

// TestOverlappingSends: two sends of one buffer, which MPI allows. The end of the short one says
// nothing about the long one.
func TestOverlappingSends(t *testing.T) {
	const n = 40000
	for _, p := range protocols {
		require.NoError(t, launch(t, pair(p, n), func(r *host.Rank) error {
			buf, err := r.Alloc(n)
			if err != nil {
				return err
			}
			if r.ID() == 0 {
				fill(buf, 1, 0, 1, 0)
				long, err := r.Isend(1, 0, buf)
				if err != nil {
					return err
				}
				short, err := r.Isend(1, 1, buf[:n/2])
				if err != nil {
					return err
				}
				if err := r.Waitall([]*host.Request{short, long}); err != nil {
					return err
				}
				clear(buf) // it is the application's again
				return nil
			}
			if _, err := r.Recv(0, 1, make([]byte, n/2)); err != nil {
				return err
			}
			if err := later(r, 200*drivers.Microsecond); err != nil {
				return err
			}
			if _, err := r.Recv(0, 0, buf); err != nil {
				return err
			}
			return verify(buf, 1, 0, 1, 0)
		}), "%s", p)
	}
}

// inNode is a world whose ranks can take their pages from the NIC.
type inNode struct {
	w *World
}

func openFaulty(t *testing.T, c Config) *inNode {
	t.Helper()
	w, err := openWorld(context.Background(), c, nil, drivers.CanSimulate)
	require.NoError(t, err)
	t.Cleanup(func() { w.Sys.Close() })
	return &inNode{w}
}

// unmap takes the translation of the page away in which byte i of buf lies.
func (f *inNode) unmap(node int, buf []byte, i int) {
	mem := f.w.Sys.Device(node).Memory()
	at := uintptr(unsafe.Pointer(&buf[i])) - uintptr(unsafe.Pointer(&mem[0]))
	base, bytes := f.w.Layout.Tables()
	for entry := base + 64; entry < base+uint64(bytes); entry += 8 {
		e := regs.ATUEntry(binary.LittleEndian.Uint64(mem[entry:])).Fields()
		if e.Rights != 0 && e.Page == uint64(at)>>12 {
			binary.LittleEndian.PutUint64(mem[entry:], 0)
		}
	}
}

// TestPageFaultsInRendezvous: both ends are told, once, and nothing else is touched: not the rank,
// not the message that has the memory of the failed one.
func TestPageFaultsInRendezvous(t *testing.T) {
	const n = 10 << 12
	for _, p := range protocols {
		for _, page := range []int{0, 5, 9} {
			for _, at := range []int{0, 1} { // whose page
				t.Run(fmt.Sprintf("%s/page%d/rank%d", p, page, at), func(t *testing.T) {
					c := pair(p, n)
					c.Device = *longDevice
					f := openFaulty(t, c)
					require.NoError(t, f.w.run(context.Background(), func(r *host.Rank) error { return f.faulty(r, at, page, n) }))
				})
			}
		}
	}
}

func (f *inNode) faulty(r *host.Rank, at, page, n int) error {
	bad, err := r.Alloc(n)
	if err != nil {
		return err
	}
	good, err := r.Alloc(n)
	if err != nil {
		return err
	}
	var q *host.Request
	if r.ID() == 0 {
		fill(bad, 1, 0, 1, 0)
		fill(good, 1, 0, 1, 1)
		q, err = r.Isend(1, 0, bad)
	} else {
		q, err = r.Irecv(0, 0, bad)
	}
	for seen := r.Now(); err == nil && r.ID() == at && r.Now() < seen+20*drivers.Microsecond; {
		// A page that the NIC has not seen yet: the receiver's as soon as it is registered.
		f.unmap(r.ID(), bad, page<<12)
		if r.ID() == 0 {
			break
		}
		r.Compute(100 * drivers.Nanosecond)
		_, _, err = r.Iprobe(0, 77)
	}
	if err != nil {
		return err
	}
	if _, err := r.Wait(q); !errors.Is(err, rendezvous.ErrFault) {
		return fmt.Errorf("rank %d: %v, expected a fault", r.ID(), err)
	}
	if r.ID() == 0 {
		return r.Send(1, 1, good)
	}
	if _, err := r.Recv(0, 1, good); err != nil {
		return err
	}
	return verify(good, 1, 0, 1, 1)
}

// TestGrowingSlices: registrations that have to wait until the NIC has forgotten others do.
func TestGrowingSlices(t *testing.T) {
	n := 400 << 10
	if testing.Short() {
		n = 100 << 10
	}
	for _, p := range protocols {
		c := pair(p, n)
		c.buffers = 1
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			buf, err := r.Alloc(n)
			if err != nil {
				return err
			}
			for k, m := 0, 1<<12; m <= n; k, m = k+1, m+1<<12 {
				if r.ID() == 0 {
					fill(buf[:m], 1, 0, 1, k)
					err = r.Send(1, 1, buf[:m])
				} else if _, err = r.Recv(0, 1, buf[:m]); err == nil {
					err = verify(buf[:m], 1, 0, 1, k)
				}
				if err != nil {
					return fmt.Errorf("%d bytes: %w", m, err)
				}
			}
			return nil
		}), "%s", p)
	}
}

// TestHeapRunsOut: messages outside DMA memory wait for it, in both directions at once, also where
// the receives come in another order than the sends.
func TestHeapRunsOut(t *testing.T) {
	const n, count = 20000, 30
	for _, p := range protocols {
		c := pair(p, n)
		c.buffers = 1
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			peer := 1 - r.ID()
			var list []*host.Request
			for k := range count {
				b := make([]byte, n)
				fill(b, 1, r.ID(), peer, k)
				q, err := r.Isend(peer, k, b)
				if err != nil {
					return err
				}
				list = append(list, q)
			}
			var bufs [][]byte
			for k := range count {
				b := make([]byte, n)
				q, err := r.Irecv(peer, count-1-k, b)
				if err != nil {
					return err
				}
				list, bufs = append(list, q), append(bufs, b)
			}
			if err := r.Waitall(list); err != nil {
				return err
			}
			for k, b := range bufs {
				if err := verify(b, 1, peer, r.ID(), count-1-k); err != nil {
					return err
				}
			}
			return nil
		}), "%s", p)
	}
}

// TestHeapCanNeverHold: a message that the heap has no room for, whatever is given back, fails at
// both ends.
func TestHeapCanNeverHold(t *testing.T) {
	c := pair(host.RGET, 8192)
	c.buffers = 1
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		b := make([]byte, 1<<20)
		var err error
		if r.ID() == 0 {
			err = r.Send(1, 0, b)
		} else {
			_, err = r.Recv(0, 0, b)
		}
		if !errors.Is(err, rendezvous.ErrMemory) {
			return fmt.Errorf("rank %d: %v, expected no memory", r.ID(), err)
		}
		if r.ID() == 0 {
			return r.Send(1, 0, bytes.Repeat([]byte{7}, 4000))
		}
		_, err = r.Recv(0, 0, b)
		return err
	}))
}

// TestImpossibleTags: a tag does not become another one on the way.
func TestImpossibleTags(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		for _, tag := range []int{-1, -2, 1<<32 + 5, host.MaxTag + 1} {
			if _, err := r.Isend(1-r.ID(), tag, nil); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("a send with tag %d: %v", tag, err)
			}
			if tag == host.AnyTag {
				continue
			}
			if _, err := r.Irecv(1-r.ID(), tag, nil); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("a receive with tag %d: %v", tag, err)
			}
			if _, _, err := r.Iprobe(1-r.ID(), tag); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("a probe with tag %d: %v", tag, err)
			}
		}
		if r.ID() == 0 {
			return r.Send(1, host.MaxTag, []byte{1})
		}
		st, err := r.Recv(0, host.MaxTag, make([]byte, 1))
		if err == nil && st.Tag != host.MaxTag {
			err = fmt.Errorf("tag %d", st.Tag)
		}
		return err
	}))
}

// TestReductionOfHalfNumbers: bytes that are no whole number are not left out.
func TestReductionOfHalfNumbers(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	for what, reduce := range map[string]func(r *host.Rank, b []byte) error{
		"allreduce": func(r *host.Rank, b []byte) error { return r.Allreduce(b, host.SumInt64) },
		"reduce":    func(r *host.Rank, b []byte) error { return r.Reduce(0, b, host.MaxInt64) },
		"reduce_scatter": func(r *host.Rank, b []byte) error {
			return r.ReduceScatter(b, make([]byte, 6), host.Even(2, 6), host.SumFloat64)
		},
	} {
		for _, linear := range []bool{false, true} {
			require.NoError(t, launch(t, c, func(r *host.Rank) error {
				r.SetLinear(linear)
				if err := reduce(r, make([]byte, 12)); !errors.Is(err, drivers.ErrConfig) {
					return fmt.Errorf("%v, expected an error", err)
				}
				return nil
			}), what)
		}
	}
}
