package drivers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAssertionError(t *testing.T) {
	e := NewAssertionError(129, 6400, "core/velo_requester.sv:221: $stop: [822400] %Error: velo_requester.sv:221: Assertion failed in node3.sim_node.u_nic.g_link[0].u_link: node 3: no entry")
	require.ErrorIs(t, e, ErrAssertion)
	require.EqualError(t, e, "RTL assertion failed: cycle 129 (825.6 ns), node 3, u_nic.g_link[0].u_link (core/velo_requester.sv:221): node 3: no entry")
	require.Equal(t, 3, e.Node)
	e = NewAssertionError(7, 6400, "bus model of node 2 asked for a command and none was due")
	require.EqualError(t, e, "RTL assertion failed: cycle 7 (44.8 ns): bus model of node 2 asked for a command and none was due")
	require.Equal(t, -1, e.Node)
}
