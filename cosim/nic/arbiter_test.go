package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// rtl/README.md, Arbitration: a round-robin pointer moves with a grant only.
func TestRoundRobinArbiter(t *testing.T) {
	for _, tc := range []struct {
		name string
		asks [maxClients]drivers.Cycle
		want []int
	}{
		{"in turn", [maxClients]drivers.Cycle{1, 1, 1, 1, 1, 1}, []int{0, 1, 2, 3, 4, 5}},
		{"gaps are skipped", [maxClients]drivers.Cycle{0, 1, 0, 0, 1, 0}, []int{1, 4}},
		{"later requests wait", [maxClients]drivers.Cycle{9, 1, 0, 5, 0, 0}, []int{1, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := arbiter{requests: requests{tc.asks}}
			for _, want := range tc.want {
				require.Equal(t, want, a.grant(5))
				require.False(t, a.asking(want), "a grant ends the request")
			}
		})
	}
}

func TestRoundRobinServesOthersBeforeTheSameAgain(t *testing.T) {
	var a arbiter
	a.asks[2], a.asks[4] = 1, 1
	require.Equal(t, 2, a.grant(1))
	a.asks[2] = 2
	require.Equal(t, 4, a.grant(2), "client 4 has waited for longer")
	require.Equal(t, 2, a.grant(2))
}

func TestRequestsDue(t *testing.T) {
	var q requests
	require.Equal(t, drivers.Forever, q.due())
	q.asks[5], q.asks[1] = 7, 12
	require.EqualValues(t, 7, q.due())
}

// rtl/README.md, Arbitration: a requester of lrs_arbiter that had to withdraw keeps its place.
func TestLeastRecentlyServed(t *testing.T) {
	var a lrsArbiter
	a.asks[0], a.asks[1], a.asks[2] = 1, 1, 1
	require.Equal(t, 0, a.grant(1)) // and withdraws: its ring is full
	require.Equal(t, 1, a.grant(1))
	a.serve(1)
	a.asks[0], a.asks[1] = 2, 2
	require.Equal(t, 0, a.grant(2), "it was granted before, but not served")
	a.serve(0)
	require.Equal(t, 2, a.grant(2))
	a.serve(2)
	require.Equal(t, 1, a.grant(2))
}
