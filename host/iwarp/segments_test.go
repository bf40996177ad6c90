package iwarp

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

// segmentSocket is a SegmentPort that records its calls.
type segmentSocket struct {
	*socket
	most  int
	calls []int // datagrams of each call
	err   error
	full  bool
}

func (s *segmentSocket) MaxSegments() int { return s.most }

func (s *segmentSocket) SendSegments(to netip.AddrPort, size int, parts [][]byte) (bool, error) {
	if s.full || s.err != nil {
		return false, s.err
	}
	all := bytes.Join(parts, nil)
	s.calls = append(s.calls, (len(all)+size-1)/size)
	for len(all) > 0 {
		n := min(size, len(all))
		if ok, err := s.Send(to, [][]byte{all[:n]}); !ok || err != nil {
			return ok, err
		}
		all = all[n:]
	}
	return true, nil
}

// TestSeveralDatagramsPerCall: a call sends the messages at the head of the queue that have one
// peer and one length, of which only the last may be shorter, up to the limits of the port and of
// UDP.
func TestSeveralDatagramsPerCall(t *testing.T) {
	for name, c := range map[string]struct {
		lengths []int
		most    int
		calls   []int // of SendSegments
	}{
		"equal":          {[]int{100, 100, 100, 100}, 64, []int{4}},
		"last shorter":   {[]int{100, 100, 7, 100, 100}, 64, []int{3, 2}},
		"a longer one":   {[]int{7, 100, 100}, 64, []int{2}},
		"limit of port":  {[]int{9, 9, 9, 9, 9}, 2, []int{2, 2}},
		"limit of UDP":   {[]int{30_000, 30_000, 30_000}, 64, []int{2}},
		"empty messages": {[]int{0, 0, 0}, 64, []int{3}},
		"none":           {[]int{5, 5}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, a, b := newEther(), newHost(t), newHost(t)
			x, y := &segmentSocket{socket: e.bind(1), most: c.most}, e.bind(2)
			qa, qb := a.qp(t, UD, Attachment{Datagram: x}), b.qp(t, UD, Attachment{Datagram: y})
			for i, length := range c.lengths {
				require.NoError(t, qb.PostReceive(uint64(i), b.list(i*30_000, 30_000)))
				a.fill(i*30_000, bytes.Repeat([]byte{byte(i + 1)}, length))
				require.NoError(t, qa.PostSend(Work{ID: uint64(i), Opcode: rdmap.Send, To: y.address, List: a.list(i*30_000, length)}))
			}
			for a.Progress() || b.Progress() {
			}
			require.Equal(t, c.calls, x.calls)
			for i, length := range c.lengths {
				require.Equal(t, uint64(i), a.poll(t).ID)
				w := b.poll(t)
				require.Equal(t, []int{i, length}, []int{int(w.ID), w.Length})
				require.Equal(t, bytes.Repeat([]byte{byte(i + 1)}, length), b.memory[i*30_000:][:length])
			}
		})
	}
}

// TestRefusedSegments: a full port keeps the messages, an error of the port drops and counts them.
func TestRefusedSegments(t *testing.T) {
	e, a := newEther(), newHost(t)
	x, y := &segmentSocket{socket: e.bind(1), most: 64, full: true}, e.bind(2)
	q := a.qp(t, UD, Attachment{Datagram: x})
	for i := range 3 {
		require.NoError(t, q.PostSend(Work{ID: uint64(i), Opcode: rdmap.Send, To: y.address, List: a.list(0, 10)}))
	}
	require.False(t, a.Progress())
	require.Zero(t, a.cq.n)
	x.full, x.err = false, errors.New("no route")
	require.True(t, a.Progress())
	require.Equal(t, 3, a.cq.n)
	require.EqualValues(t, 3, q.Counters().SendError)
}

// TestReceiveSeveral: one call of Progress receives datagrams while receives are posted, so that
// the program can post more before the others are dropped.
func TestReceiveSeveral(t *testing.T) {
	_, a, b, qa, qb, to := datagramPair(t, UD)
	for i := range 5 {
		require.NoError(t, qa.PostSend(Work{ID: uint64(i), Opcode: rdmap.Send, To: to}))
		a.Progress()
	}
	require.NoError(t, qb.PostReceive(0, nil))
	require.NoError(t, qb.PostReceive(1, nil))
	require.True(t, b.Progress())
	require.Equal(t, 2, b.cq.n)
	require.Equal(t, DatagramCounters{}, qb.Counters())
}
