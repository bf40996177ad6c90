package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/stretchr/testify/require"
)

var longProtocols = []Rendezvous{RGET, RPUT, Chunked, Spec}

func letter(n, k int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + k*13)
	}
	return b
}

func expect(b []byte, k int) error {
	if !bytes.Equal(b, letter(len(b), k)) {
		return fmt.Errorf("letter %d of %d bytes is not what was sent", k, len(b))
	}
	return nil
}

// Messages of all lengths, in and outside DMA memory, expected and unexpected.
func TestMessages(t *testing.T) {
	sizes := []int{0, 1, 40, 41, 2048, 2049, 4096, 5001, 70000}
	for _, p := range longProtocols {
		for _, late := range []bool{false, true} {
			launch(t, inPairs(p), func(r *Rank) error {
				for k, n := range sizes {
					b := make([]byte, n)
					if k%2 == 0 && n > 0 {
						var err error
						if b, err = r.Alloc(n); err != nil {
							return err
						}
					}
					if r.ID() == 0 {
						copy(b, letter(n, k))
						if err := r.Send(1, k, b); err != nil {
							return err
						}
						continue
					}
					if late {
						if st, err := r.Probe(AnySource, AnyTag); err != nil || st != (Status{0, k, n}) {
							return fmt.Errorf("probe: %+v, %v", st, err)
						}
					}
					st, err := r.Recv(0, k, b)
					if err != nil || st != (Status{0, k, n}) {
						return fmt.Errorf("%+v, %w", st, err)
					}
					if err := expect(b, k); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// All pairs exchange messages at once; ranks of a node share its tables.
func TestAllAtATime(t *testing.T) {
	for _, p := range longProtocols {
		pl := inPairs(p)
		pl.nodes, pl.procs = 3, 2
		launch(t, pl, func(r *Rank) error {
			var list []*Request
			bufs := map[*Request][]byte{}
			for peer := range r.Size() {
				for k, n := range []int{3000, 7, 9000} {
					if peer == r.ID() {
						continue
					}
					in := make([]byte, n)
					q, err := r.Irecv(peer, k, in)
					if err != nil {
						return err
					}
					bufs[q] = in
					s, err := r.Isend(peer, k, letter(n, k))
					if err != nil {
						return err
					}
					list = append(list, q, s)
				}
			}
			if err := r.Waitall(list); err != nil {
				return err
			}
			for q, b := range bufs {
				if err := expect(b, int(q.op.Received.Tag)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// A rank can choose the protocol of each message.
func TestPolicyByMessage(t *testing.T) {
	p := inPairs(RGET)
	var seen []rendezvous.Message
	p.rma.Choose = func(m rendezvous.Message) rendezvous.Protocol {
		seen = append(seen, m)
		if m.Reachable || m.Hint == 7 {
			return rendezvous.RPUT
		}
		return rendezvous.RGET
	}
	launch(t, p, func(r *Rank) error {
		b, err := r.Alloc(5000)
		if err != nil {
			return err
		}
		if r.ID() == 0 {
			err := errors.Join(r.Send(1, 0, letter(6000, 0)), r.Send(1, 1, b))
			r.Hint(7)
			return errors.Join(err, r.Send(1, 2, letter(6000, 2)))
		}
		c := make([]byte, 6000)
		_, err = r.Recv(0, 0, c)
		_, err2 := r.Recv(0, 1, b)
		err = errors.Join(err, err2, expect(c, 0))
		_, err2 = r.Recv(0, 2, c)
		return errors.Join(err, err2, expect(c, 2))
	})
	require.Equal(t, []rendezvous.Message{
		{Peer: 1, Bytes: 6000, Blocks: true},
		{Peer: 1, Bytes: 5000, Reachable: true, Blocks: true, Envelope: rendezvous.Envelope{Tag: 1}},
		{Peer: 1, Bytes: 6000, Hint: 7, Blocks: true, Envelope: rendezvous.Envelope{Tag: 2}},
	}, seen)
}

func TestTooLongForTheBuffer(t *testing.T) {
	for _, p := range longProtocols {
		for _, n := range []int{40, 4000} {
			launch(t, inPairs(p), func(r *Rank) error {
				if r.ID() == 0 {
					return r.Send(1, 5, letter(n, 0))
				}
				b := make([]byte, n-1)
				st, err := r.Recv(0, 5, b)
				if !errors.Is(err, ErrTruncated) || st.Bytes != n {
					return fmt.Errorf("%+v, %v", st, err)
				}
				return expect(b, 0)
			})
		}
	}
}

// unmap removes the translations of all pages of a rank's heap that the NIC has not cached yet.
func (g *rig) unmap(r *Rank) {
	dma := r.engine.DMA
	mem := dma.Memory
	at := g.atu[g.procs[r.ID()].node]
	for entry := at + 64; entry < at+1<<16; entry += 8 {
		e := regs.ATUEntry(binary.LittleEndian.Uint64(mem[entry:])).Fields()
		if page := uint64(e.Page) << 12; e.Rights != 0 && page >= dma.HeapBase && page < dma.HeapBase+dma.HeapBytes-rigPages {
			binary.LittleEndian.PutUint64(mem[entry:], 0)
		}
	}
}

// A fault is reported at both ends, also a late one of a put, and the rank continues.
func TestFaultIsReportedAtBothEnds(t *testing.T) {
	for _, p := range longProtocols {
		g := newRig(t, inPairs(p))
		require.NoError(t, g.run(func(r *Rank) error {
			b, err := r.Alloc(20000)
			if err != nil {
				return err
			}
			var q *Request
			if r.ID() == 0 {
				q, err = r.Isend(1, 0, b)
			} else {
				q, err = r.Irecv(0, 0, b)
			}
			for end := r.Now() + 5*drivers.Microsecond; err == nil && r.ID() == 1 && r.Now() < end; {
				r.Compute(50 * drivers.Nanosecond)
				_, _, err = r.Test(q)
				g.unmap(r)
			}
			if err == nil {
				_, err = r.Wait(q)
			}
			var e *rendezvous.Error
			if !errors.As(err, &e) || e.Code != rendezvous.Fault || e.Detail == 0 {
				return fmt.Errorf("%v, expected a fault with its number", err)
			}
			if e.Here != ((p == RPUT) == (r.ID() == 0)) {
				return fmt.Errorf("%v: found at the wrong end", err)
			}
			if r.ID() == 0 {
				return r.Send(1, 1, letter(3000, 1))
			}
			c := make([]byte, 3000)
			_, err = r.Recv(0, 1, c)
			return errors.Join(err, expect(c, 1))
		}), "%s", p)
	}
}

// Tables that are full of cached entries delay a message until a fence, and do not fail it.
func TestTablesThatEmptyThemselves(t *testing.T) {
	for _, p := range longProtocols {
		pl := inPairs(p)
		pl.tables = 64 + 8*80
		launch(t, pl, func(r *Rank) error {
			b, err := r.Alloc(300 << 10)
			if err != nil {
				return err
			}
			for k := 1; k <= 60; k++ {
				n := k * 4096
				if r.ID() == 0 {
					copy(b, letter(n, k))
					err = r.Send(1, 0, b[:n])
				} else if _, err = r.Recv(0, 0, b[:n]); err == nil {
					err = expect(b[:n], k)
				}
				if err != nil {
					return fmt.Errorf("%d pages: %w", k, err)
				}
			}
			return nil
		})
	}
}

// A region that never fits the tables fails at both ends after a timeout.
func TestTablesTooSmall(t *testing.T) {
	for _, p := range longProtocols {
		pl := inPairs(p)
		pl.tables = 64 + 8*16
		launch(t, pl, func(r *Rank) error {
			b, err := r.Alloc(200 << 10)
			if err != nil {
				return err
			}
			if r.ID() == 0 {
				err = r.Send(1, 0, b)
			} else {
				_, err = r.Recv(0, 0, b)
			}
			if !errors.Is(err, rendezvous.ErrMemory) {
				return fmt.Errorf("%v, expected no memory", err)
			}
			if r.ID() == 0 {
				return r.Send(1, 1, b[:4000])
			}
			_, err = r.Recv(0, 1, b[:4000])
			return err
		})
	}
}

// isendLetters begins to send letters of so many bytes, by their tags.
func isendLetters(r *Rank, peer, letters, bytes int) ([]*Request, error) {
	list := make([]*Request, letters)
	for k := range list {
		var err error
		if list[k], err = r.Isend(peer, k, letter(bytes, k)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// The heap has space for one message: those outside DMA memory are sent one after the other.
func TestHeapForOneMessage(t *testing.T) {
	for _, p := range longProtocols {
		pl := inPairs(p)
		pl.heap = 5 * 20480
		launch(t, pl, func(r *Rank) error {
			peer := 1 - r.ID()
			list, err := isendLetters(r, peer, 12, 20000)
			if err != nil {
				return err
			}
			var in [][]byte
			for k := range 12 {
				b := make([]byte, 20000)
				q, err := r.Irecv(AnySource, 11-k, b)
				if err != nil {
					return err
				}
				list, in = append(list, q), append(in, b)
			}
			if err := r.Waitall(list); err != nil {
				return err
			}
			for k, b := range in {
				if err := expect(b, 11-k); err != nil {
					return err
				}
			}
			return r.engine.DMA.CheckWhole()
		})
	}
}

// Unmatched sends leave heap space for one matched send and for one receive.
func TestUnmatchedSendsLeaveHeapSpace(t *testing.T) {
	for _, p := range longProtocols {
		pl := inPairs(p)
		pl.heap = 4 * 32768
		launch(t, pl, func(r *Rank) error {
			peer := 1 - r.ID()
			list, err := isendLetters(r, peer, 60, 3000)
			if err != nil {
				return err
			}
			q, err := r.Isend(peer, 99, letter(30000, 99))
			if err != nil {
				return err
			}
			b := make([]byte, 30000)
			if _, err := r.Recv(peer, 99, b); err != nil {
				return err
			}
			for k := range 60 {
				if _, err := r.Recv(peer, k, b); err != nil {
					return err
				}
				if err := expect(b[:3000], k); err != nil {
					return err
				}
			}
			return r.Waitall(append(list, q))
		})
	}
}

func TestUseRMA(t *testing.T) {
	r := newRig(t, plan{nodes: 2, procs: 1}).ranks[0]
	for _, c := range []RMA{
		{Protocol: "smoke", HeapBytes: 4096}, {Protocol: Chunked, Chunk: 0, Outstanding: 1, HeapBytes: 4096},
		{Protocol: Chunked, Chunk: 1 << 30, Outstanding: 1, HeapBytes: 4096}, {Protocol: Chunked, Chunk: 1, HeapBytes: 4096}, {Protocol: RGET, HeapBytes: 100},
	} {
		require.ErrorIs(t, r.UseRMA(c), drivers.ErrConfig, "%+v", c)
	}
	b, err := r.Alloc(100) // without RMA it is memory like any other
	require.NoError(t, err)
	require.Len(t, b, 100)
	r.FreeAll()
	_, err = r.Isend(1, 0, make([]byte, EagerMax+1))
	require.ErrorIs(t, err, drivers.ErrConfig)

	r = newRig(t, inPairs(RPUT)).ranks[0]
	for range 3 {
		_, err = r.Alloc(1<<20 - path.ScratchBytes)
		require.NoError(t, err)
		_, err = r.Alloc(1)
		require.ErrorIs(t, err, drivers.ErrConfig)
		r.FreeAll()
	}
}
