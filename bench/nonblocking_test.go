package bench

import (
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// TestNonBlocking exchanges many messages at a time over few slots, with
// receives posted before and after the messages come.
func TestNonBlocking(t *testing.T) {
	for _, early := range []bool{true, false} {
		c := onIdeal("")
		c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 5, CreditSlots: 2, Piggyback: true}
		const each = 6
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			var sends, recvs []*host.Request
			var bufs [][]byte
			post := func() error {
				for s := range r.Size() {
					for k := range each {
						if s == r.ID() {
							continue
						}
						b := make([]byte, 300+k)
						q, err := r.Irecv(s, k, b)
						if err != nil {
							return err
						}
						recvs, bufs = append(recvs, q), append(bufs, b)
					}
				}
				return nil
			}
			if early {
				if err := post(); err != nil {
					return err
				}
			}
			for d := range r.Size() {
				for k := range each {
					if d == r.ID() {
						continue
					}
					b := make([]byte, 300+k)
					fill(b, 1, r.ID(), d, k)
					q, err := r.Isend(d, k, b)
					if err != nil {
						return err
					}
					sends = append(sends, q)
				}
			}
			if !early {
				if err := post(); err != nil {
					return err
				}
			}
			for range recvs { // in whatever order they end
				i, st, err := r.Waitany(recvs)
				if err != nil {
					return err
				}
				recvs[i] = nil
				if err := verify(bufs[i][:st.Bytes], 1, st.Source, r.ID(), st.Tag); err != nil {
					return err
				}
			}
			return r.Waitall(sends)
		}), "receives first: %v", early)
	}
}

func TestProbeAndTest(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		if r.ID() == 0 {
			r.Compute(5 * drivers.Microsecond)
			return r.Send(1, 42, []byte("hello"))
		}
		if _, ok, err := r.Iprobe(0, 42); ok || err != nil {
			return fmt.Errorf("probe found a message before it was sent: %v", err)
		}
		st, err := r.Probe(host.AnySource, host.AnyTag)
		if err != nil || st != (host.Status{Source: 0, Tag: 42, Bytes: 5}) {
			return fmt.Errorf("probe: %+v, %v", st, err)
		}
		if at := r.Now(); at < 5*drivers.Microsecond {
			return fmt.Errorf("the message was seen at %v, before it was sent", at)
		}
		q, err := r.Irecv(0, 42, make([]byte, 5))
		if err != nil {
			return err
		}
		for {
			if st, ok, err := r.Test(q); ok || err != nil {
				if st.Bytes != 5 {
					return fmt.Errorf("got %+v", st)
				}
				return err
			}
		}
	}))
}

// TestNonOvertaking: MPI's order rule: of two messages that match a receive, the
// one sent first is received first, also when it is the longer one.
func TestNonOvertaking(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		if r.ID() == 0 {
			long, err := r.Isend(1, 1, make([]byte, 2048))
			if err != nil {
				return err
			}
			short, err := r.Isend(1, 1, make([]byte, 3))
			if err != nil {
				return err
			}
			return r.Waitall([]*host.Request{long, short})
		}
		for _, want := range []int{2048, 3} {
			st, err := r.Recv(0, 1, make([]byte, 2048))
			if err != nil {
				return err
			}
			if st.Bytes != want {
				return fmt.Errorf("received %d bytes, expected %d", st.Bytes, want)
			}
		}
		return nil
	}))
}
