package drivers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTimeString(t *testing.T) {
	for want, v := range map[string]Time{"1.5 ns": 1500, "-7.0 ns": -7000, "12.00 µs": 12 * Microsecond, "34.50 ms": 34500 * Microsecond, "12.00 s": 12 * Second} {
		require.Equal(t, want, v.String())
	}
}

func TestBusErrorText(t *testing.T) {
	e := &BusError{Node: 3, Port: "register", Off: 0x30000, Resp: 3}
	require.Equal(t, "node 3: register read at 0x30000: the NIC answered DECERR", e.Error())
}
