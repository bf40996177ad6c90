package host

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// script is Contents of one text, whose prefixes are named by their length.
type script struct {
	text           []byte
	named, written int
}

func (s *script) Name(_ int, b []byte) (int32, bool) {
	if !bytes.HasPrefix(s.text, b) {
		return 0, false
	}
	s.named++
	return int32(len(b)), true
}

func (s *script) Write(_ int, name int32, b []byte) {
	s.written++
	copy(b, s.text[:name])
}

// Unexpected messages that Contents can regenerate are kept by name and received with the right
// bytes: also into a short buffer, after a matched probe, and beside messages that differ in the
// last byte only.
func TestContents(t *testing.T) {
	text := make([]byte, EagerMax)
	for i := range text {
		text[i] = byte(i*7 + i>>8)
	}
	other := bytes.Clone(text[:100])
	other[99]++
	sent := [][]byte{text, other, nil, text[:1], text[:57], text[:300], text[:2000]}
	known := &script{text: text}
	times := [2][]any{}
	for i, contents := range []Contents{nil, known} {
		g := newRig(t, plan{nodes: 2, procs: 1})
		require.NoError(t, g.run(func(r *Rank) error {
			if r.ID() == 0 {
				for k, b := range sent {
					if err := r.Send(1, k, b); err != nil {
						return err
					}
				}
				return r.Send(1, len(sent), nil)
			}
			r.UseContents(contents)
			if _, err := r.Recv(0, len(sent), nil); err != nil { // all others have arrived before their receives
				return err
			}
			if contents != nil {
				require.Equal(t, 5, known.named)
				require.Zero(t, r.eager.LargestHeld(), "no large buffer is held")
			}
			for k := len(sent) - 1; k >= 0; k-- {
				buf := make([]byte, max(1, len(sent[k])))
				switch k {
				case 5: // shorter than the message
					_, err := r.Recv(0, k, buf[:40])
					require.ErrorIs(t, err, ErrTruncated)
					require.Equal(t, sent[k][:40], buf[:40])
					require.Zero(t, buf[40])
				case 4:
					m, err := r.Mprobe(0, k)
					require.NoError(t, err)
					q, err := m.Irecv(buf)
					require.NoError(t, err)
					_, err = r.Wait(q)
					require.NoError(t, err)
					require.Equal(t, sent[k], buf)
				default:
					st, err := r.Recv(0, k, buf)
					require.NoError(t, err)
					require.Equal(t, Status{Source: 0, Tag: k, Bytes: len(sent[k])}, st)
					require.True(t, bytes.Equal(sent[k], buf[:len(sent[k])]), "message %d", k)
				}
				times[i] = append(times[i], r.Now())
			}
			times[i] = append(times[i], r.Stats())
			return nil
		}))
	}
	require.Equal(t, 5, known.written)
	require.Equal(t, times[0], times[1], "keeping messages by name takes no simulated time")
}
