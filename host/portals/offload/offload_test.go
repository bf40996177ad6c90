package offload

import (
	"testing"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
	"github.com/stretchr/testify/require"
)

func TestTheorem1(t *testing.T) {
	var cycle []string
	for _, e := range Cycle(Events(true)) {
		cycle = append(cycle, e.From+">"+e.To)
	}
	require.ElementsMatch(t, []string{"t3>t4", "t4>tx", "tx>t3"}, cycle)
	require.Nil(t, Cycle(Events(false)))
}

func TestTableOfThePaper(t *testing.T) {
	want := [][2]Tag{{1, 2}, {2, 1}, {1, 2}, {1, 2}, {1, 0}, {1, 2}, {2, 1}}
	for i, c := range Table(false) {
		require.Equal(t, want[i], c.Sends, "%v", c.Receives)
	}
	require.Equal(t, [2]Tag{1, 2}, Table(true)[6].Sends)
}

func TestSearchIsExhaustive(t *testing.T) {
	for _, s := range AllSemantics() {
		want := map[Semantics]int{Exact: 0, FirstMatch: 2, UseOnce: 2, UseOnceInOrder: 8}[s]
		f := Search(s, false)
		require.Equal(t, [3]int{19683, 84, 84 * 84}, [3]int{f.Entries, f.Sets, f.Pairs})
		require.Len(t, f.Solutions, want, s)
		require.Empty(t, Search(s, true).Solutions, s)
	}
}

// The solution that was checked by hand on all seven rows.
func TestKnownSolution(t *testing.T) {
	pair := [2]Entry{{0, 0b010111101}, {0, 0b111111110}}
	for _, s := range []Semantics{FirstMatch, UseOnce, UseOnceInOrder} {
		require.True(t, satisfiesAll(pair, Table(false), s), s)
		require.False(t, satisfiesAll(pair, Table(true), s), s)
	}
	pair[0].Ignore |= 1 << 6 // planted: send 1 also takes a receive after one of t1
	require.False(t, satisfiesAll(pair, Table(false), FirstMatch))
}

func TestWholeHistoriesFollowMPI(t *testing.T) {
	s := Scheme{Receives: 4}
	gets, err := s.Check(4)
	require.NoError(t, err)
	require.Equal(t, 30*120, gets, "2+4+8+16 sends times 3+9+27+81 histories")
	require.Equal(t, [2]int{39, 120}, [2]int{Scheme{3}.Bits(), s.Bits()})
	for r, want := range []int{0, 3, 3 + 7, 3 + 7 + 18, 3 + 7 + 18 + 47, 3 + 7 + 18 + 47 + 123} {
		require.Equal(t, want, Behaviours(r, r), "%d receives", r)
	}
	require.Equal(t, 6, ReceivesBeyond(9), "520 behaviours, 512 codes")
	require.Equal(t, 46, ReceivesBeyond(64))
}

func TestSolutionsFollowMPIInEveryInterleaving(t *testing.T) {
	for _, s := range []Semantics{FirstMatch, UseOnce, UseOnceInOrder} {
		for _, pair := range Search(s, false).Solutions {
			for _, o := range Executions(pair, s) {
				r, err := Explore(t.Context(), o)
				require.NoError(t, err)
				require.Equal(t, modelcheck.Proved, r.Verdict, "%v %v: %s", s, o, r.Script)
			}
		}
	}
}

func TestSequenceNumbersAreRefuted(t *testing.T) {
	r, err := Explore(t.Context(), SequenceNumbers())
	require.NoError(t, err)
	require.Equal(t, modelcheck.Refuted, r.Verdict)
	require.Contains(t, r.Violation, "MPI requires send")
}

func TestWholeHistoriesInEveryInterleaving(t *testing.T) {
	n := 0
	for _, o := range HistoryExecutions(2, 2) {
		r, err := Explore(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, modelcheck.Proved, r.Verdict, "%v: %s", o, r.Script)
		n++
	}
	require.Equal(t, 4*9, n)
}

// A solution with one compared bit more or less must fail in some case, but for one: without its
// last compared bit the entry of send 2 accepts every get. That breaks only the row whose second
// receive takes no send, and without a send no RTS triggers a get.
func TestPlantedBitsAreFound(t *testing.T) {
	pair := [2]Entry{{0, 0b010111101}, {0, 0b111111110}}
	planted := 0
	for i := range pair {
		for bit := range CodeBits {
			changed := pair
			changed[i].Ignore ^= 1 << bit
			if satisfiesAll(changed, Table(false), FirstMatch) || i == 1 && bit == 0 {
				continue
			}
			planted++
			refuted := 0
			for _, o := range Executions(changed, FirstMatch) {
				r, err := Explore(t.Context(), o)
				require.NoError(t, err)
				if r.Verdict == modelcheck.Refuted {
					refuted++
				}
			}
			require.Positive(t, refuted, "bit %d of send %d", bit, i+1)
		}
	}
	require.Equal(t, 16, planted)
}

func TestSuite(t *testing.T) {
	for _, p := range Suite() {
		o, err := p.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, p.Want, o.Got, p.Name)
		require.Positive(t, o.Checked, p.Name)
	}
}
