package mixed

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		uri   string
		nodes int
		is    error
		want  string
	}{
		{"mixed:", 4, drivers.ErrConfig, "if there are none use model:"},
		{"mixed:?rtl=", 4, drivers.ErrConfig, "if there are none use model:"},
		{"mixed:?rtl=4", 4, drivers.ErrConfig, "there is no node 4; expected nodes of 0..3"},
		{"mixed:?rtl=-1", 4, drivers.ErrConfig, "there is no node -1"},
		{"mixed:?rtl=1,2,1", 4, drivers.ErrConfig, "node 1 stands there twice"},
		{"mixed:?rtl=1;2", 4, drivers.ErrConfig, ""},
		{"mixed:?rtl=1,x", 4, drivers.ErrConfig, `found "x"`},
		{"mixed:?rtl=0,1,2,3", 4, drivers.ErrConfig, "these are all nodes; leave some to the model, or use rtl:"},
		{"mixed:?rtl=0", 1, drivers.ErrConfig, "1 nodes: holds 2..64"},
		{"mixed:?rtl=0", 65, drivers.ErrConfig, "65 nodes: holds 2..64"},
		{"mixed:?rtl=0&nodes=65", 0, drivers.ErrConfig, "expected a number 2..64"},
		{"mixed:?rtl=0&nodes=8", 4, drivers.ErrConfig, "nodes=8, but 4 are asked for"},
		{"mixed:?rtl=0&nodes=8&dims=2x2", 0, drivers.ErrConfig, "leave one of the two out"},
		{"mixed:?rtl=0", 0, drivers.ErrConfig, "how many nodes?"},
		{"mixed:x?rtl=0", 4, drivers.ErrConfig, `found the path "x"`},
		{"mixed:?rlt=0", 4, drivers.ErrConfig, `did you mean "rtl"?`},
		{"mixed:?rtl=0&vc_depth=1", 4, drivers.ErrConfig, "vc_depth=1: expected a number 2..128"},
		{"mixed:?rtl=0&spin=1h", 4, drivers.ErrConfig, "spin=1h"},
		{"mixed:?rtl=0&link_errors=1e-3", 4, drivers.ErrNotSupported, "use rtl: or model: for faults of wires"},
		{"mixed:?rtl=0&wire_latency=5", 4, drivers.ErrNotSupported, "use rtl: or model: for faults of wires, or for longer ones"},
	} {
		_, err := registry.Open(context.Background(), c.uri, drivers.Options{Nodes: c.nodes})
		require.ErrorIs(t, err, c.is, c.uri)
		require.ErrorContains(t, err, c.want, c.uri)
	}
}
