package modelcheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// counter counts from 0 to limit and, if mayReset, back to 0.
type counter struct {
	value, limit, wrong, badEnd int
	mayReset                    bool
}

var errWrong = errors.New("wrong")

func (c *counter) Enabled() (list []string) {
	if c.value < c.limit {
		list = append(list, "inc")
	}
	if c.mayReset && c.value > 0 {
		list = append(list, "reset")
	}
	return list
}

func (c *counter) Apply(e string) error {
	if e == "reset" {
		c.value = 0
		return nil
	}
	if c.value++; c.value == c.wrong {
		return errWrong
	}
	return nil
}

func (c *counter) CloneFor(string) *counter    { n := *c; return &n }
func (c *counter) AppendState(b []byte) []byte { return fmt.Append(b, c.value) }
func (c *counter) Finished() error {
	if c.value == c.badEnd {
		return errWrong
	}
	return nil
}

// forms are the ways in which a world can be explored; all find the same.
func forms(maxStates int) map[string]WorldOptions {
	o := Options{Liveness: EndReachable, MaxStates: maxStates}
	return map[string]WorldOptions{
		"one worker":      {Options: o},
		"three workers":   {Options: o, Jobs: 3},
		"keeping parents": {Options: o, Jobs: 3, KeepParents: true},
	}
}

func TestRunWorld(t *testing.T) {
	for name, o := range forms(0) {
		run := func(c counter) *Search[*counter, string] {
			s, err := RunWorld(t.Context(), o, &c)
			require.NoError(t, err)
			return s
		}
		s := run(counter{limit: 3})
		require.Equal(t, []int{4, 3, 4, 1}, []int{s.Len(), s.Transitions, s.Outcome.Depth, s.Outcome.Ends}, name)
		require.Equal(t, Proved, s.Outcome.Verdict)

		s = run(counter{limit: 3, wrong: 2, mayReset: true})
		require.ErrorIs(t, s.Outcome.Violation.Err, errWrong, name)
		require.Equal(t, []string{"inc", "inc"}, s.Counterexample(), name)

		s = run(counter{limit: 3, badEnd: 3})
		require.ErrorIs(t, s.Outcome.Violation.Err, errWrong)
		require.Len(t, s.Counterexample(), 3)

		s = run(counter{limit: 3, mayReset: true})
		require.ErrorIs(t, s.Outcome.Violation.Err, ErrLivelock, name)
		require.Empty(t, s.Counterexample())
		require.Equal(t, 4, s.Len())
	}
}

func TestMaxStates(t *testing.T) {
	for name, o := range forms(2) {
		s, err := RunWorld(t.Context(), o, &counter{limit: 3})
		require.NoError(t, err)
		require.Equal(t, Undecided, s.Outcome.Verdict, name)
		require.Equal(t, 3, s.Len(), name)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := RunWorld(ctx, WorldOptions{}, &counter{limit: 3})
	require.ErrorIs(t, err, context.Canceled)
}

// walker is in a torus of side³ states whose widest levels have more states than a batch.
type walker struct {
	at          [3]int
	side, wrong int
}

func (w *walker) Enabled() []byte       { return []byte{0, 1, 2} }
func (w *walker) CloneFor(byte) *walker { n := *w; return &n }
func (w *walker) AppendState(b []byte) []byte {
	return append(b, byte(w.at[0]), byte(w.at[1]), byte(w.at[2]))
}
func (w *walker) Finished() error { return nil }

func (w *walker) Apply(axis byte) error {
	w.at[axis] = (w.at[axis] + 1) % w.side
	if w.at[0]+w.at[1]+w.at[2] == w.wrong {
		return errWrong
	}
	return nil
}

// The number of workers changes neither counts nor the counterexample.
func TestWorkersChangeNothing(t *testing.T) {
	for _, wrong := range []int{-1, 100} {
		var first *Search[*walker, byte]
		for _, o := range []WorldOptions{{}, {Jobs: 2}, {Jobs: 3, KeepParents: true}} {
			s, err := RunWorld(t.Context(), o, &walker{side: 56, wrong: wrong})
			require.NoError(t, err)
			if first == nil {
				first = s
				continue
			}
			require.Equal(t, first.Len(), s.Len())
			require.Equal(t, first.Transitions, s.Transitions)
			require.Equal(t, first.Outcome.Depth, s.Outcome.Depth)
			require.Equal(t, first.Outcome.ID, s.Outcome.ID)
			require.Equal(t, first.Outcome.Known, s.Outcome.Known)
			if wrong >= 0 {
				require.Equal(t, first.Counterexample(), s.Counterexample())
				require.Len(t, s.Counterexample(), wrong)
			}
		}
	}
}

// A graph with a cycle is recognised, and so is a state that reaches no end.
func TestLiveness(t *testing.T) {
	graph := func(out ...[]uint32) *edges {
		e := &edges{}
		for _, to := range out {
			e.begin()
			for _, s := range to {
				e.add(s)
			}
		}
		return e
	}
	require.Equal(t, -1, graph([]uint32{1, 2}, []uint32{2}, nil).cycle(3))
	require.Equal(t, 1, graph([]uint32{1}, []uint32{2}, []uint32{1}).cycle(3))
	require.Equal(t, 0, graph([]uint32{0}).cycle(1))

	require.Equal(t, -1, graph([]uint32{1, 2}, []uint32{0}, nil).stranded(3, []uint32{2}))
	require.Equal(t, 1, graph([]uint32{1, 2}, []uint32{1}, nil).stranded(3, []uint32{2}))
	require.Equal(t, 0, graph([]uint32{0}).stranded(1, nil))
}

func TestFewest(t *testing.T) {
	actor := func(e int) int { return e / 10 }
	suffices := func(list ...bool) func(int) bool { return func(a int) bool { return list[a] } }
	events := func() []int { return []int{1, 11, 2, 3, 12, 21} }
	require.Equal(t, []int{11, 12}, Fewest(events(), 3, actor, suffices(true, true, false)))
	require.Equal(t, []int{21}, Fewest(events(), 3, actor, suffices(true, true, true)))
	require.Equal(t, events(), Fewest(events(), 3, actor, suffices(false, false, false)))
}

func TestPermutations(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Permutations(4) {
		seen[fmt.Sprint(p)] = true
	}
	require.Len(t, seen, 24)
}

func TestTranscript(t *testing.T) {
	exec := func(command string) string { return "did " + command + "\n" }
	require.Equal(t, "a\n----\ndid a\n\nstate\n----\ndid state\n", Transcript("", []string{"a"}, exec))
	require.Contains(t, Transcript("it broke", nil, exec), "# it broke\n\nstate\n----\n")
}

// Two encodings with the same hash are two states.
func TestHashCollision(t *testing.T) {
	seen := map[uint32][]byte{}
	for i := uint64(1); i < 1<<20; i++ {
		enc := binary.LittleEndian.AppendUint64(nil, i*i*0x9e3779b97f4a7c15)
		h := hash(enc)
		other, collides := seen[h]
		if !collides {
			seen[h] = enc
			continue
		}
		s := newStore()
		for want, enc := range [][]byte{other, enc} {
			id, fresh := s.insert(enc)
			require.True(t, fresh)
			require.EqualValues(t, want, id)
			require.Equal(t, enc, s.State(id))
		}
		return
	}
	t.Fatal("no two encodings with one hash among a million")
}
