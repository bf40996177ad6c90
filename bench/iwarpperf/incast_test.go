package iwarpperf

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/ethernet"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

const incastMessages, incastBytes = 30, 8192

// incastSender sends its messages to one server.
type incastSender struct {
	*endpoint
	t         *testing.T
	server    *ethernet.Socket
	unposted  int
	completed int
}

func (s *incastSender) Progress() bool {
	worked := s.endpoint.Progress()
	for s.unposted > 0 {
		err := s.send(rdmap.Send, 0, slots, incastBytes, s.server.Address())
		if errors.Is(err, iwarp.ErrQueueFull) {
			break
		}
		require.NoError(s.t, err)
		s.unposted--
		worked = true
	}
	completed, err := s.handle(func(w *iwarp.WC) error {
		require.Equal(s.t, iwarp.StatusSuccess, w.Status)
		s.completed++
		return nil
	})
	require.NoError(s.t, err)
	return worked || completed
}

// incastServer counts what it receives.
type incastServer struct {
	*echo
	t *testing.T
}

func (s *incastServer) Progress() bool {
	worked, err := s.progress()
	require.NoError(s.t, err)
	return worked
}

// TestIncast: four senders overload the port of the switch to one server. RD still delivers every
// message once; UD loses a message if the switch drops one of its frames.
func TestIncast(t *testing.T) {
	for _, kind := range []iwarp.QPType{iwarp.UD, iwarp.RD} {
		n, err := ethernet.New(ethernet.Config{Hosts: 5, SwitchQueue: 32 << 10})
		require.NoError(t, err)
		at, err := n.Bind(0, etherPort)
		require.NoError(t, err)
		e, err := openAt(kind, iwarp.Attachment{Datagram: at}, slots, n.Clock, 1)
		require.NoError(t, err)
		server := &incastServer{&echo{endpoint: e}, t}
		programs := []ethernet.Program{server}
		var senders []*incastSender
		for host := 1; host < 5; host++ {
			s := &incastSender{t: t, server: at, unposted: incastMessages}
			client, err := n.Bind(host, etherPort)
			require.NoError(t, err)
			s.endpoint, err = openAt(kind, iwarp.Attachment{Datagram: client}, 0, n.Clock, 1)
			require.NoError(t, err)
			senders, programs = append(senders, s), append(programs, s)
		}
		isComplete := func() bool {
			for _, s := range senders {
				if s.completed < incastMessages {
					return false
				}
			}
			return true
		}
		require.NoError(t, n.Run(isComplete, drivers.Second*10, programs...))
		if kind == iwarp.UD { // complete when sent: let the rest arrive
			err := n.Run(func() bool { return false }, n.Now()+drivers.Millisecond, programs...)
			require.ErrorIs(t, err, ethernet.ErrLimit, "reassemblies are still running")
		}
		require.NotZero(t, n.Counters().QueueFull)
		if kind == iwarp.RD {
			require.EqualValues(t, 4*incastMessages, server.counted)
		} else {
			require.Less(t, server.counted, uint64(4*incastMessages))
			require.NotZero(t, server.counted)
		}
	}
}
