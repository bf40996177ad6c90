package drivers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenRefusesClearly(t *testing.T) {
	Register("regtest", "for this test", []Key{{Name: "alpha"}, {Name: "beta"}}, func(_ context.Context, path string, keys map[string]string, _ Options) (System, error) {
		require.Equal(t, "PATH", path)
		require.Equal(t, map[string]string{"alpha": "1"}, keys)
		return nil, nil
	})
	t.Cleanup(func() { backends = nil })
	_, err := Open(context.Background(), "regtest:PATH?alpha=1", Options{})
	require.NoError(t, err)
	for uri, want := range map[string]string{
		"regtest":                 "expected SCHEME:",
		"regtset:":                `unknown scheme "regtset", did you mean "regtest:"?`,
		"regtest:?alhpa=1":        `unknown key "alhpa", did you mean "alpha"?`,
		"regtest:?gamma=1":        `unknown key "gamma"; known: alpha beta`,
		"regtest:?alpha=1&alpha=": `key "alpha" is given 2 times`,
		"regtest:?%":              "invalid URL escape",
	} {
		_, err := Open(context.Background(), uri, Options{})
		require.ErrorIs(t, err, ErrConfig, uri)
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, []Backend{{"regtest", "for this test", []Key{{Name: "alpha"}, {Name: "beta"}}}}, Backends())
	require.Panics(t, func() { Register("regtest", "", nil, nil) })
}

func TestTimeString(t *testing.T) {
	for want, v := range map[string]Time{"1.5 ns": 1500, "-7.0 ns": -7000, "12.00 µs": 12 * Microsecond, "34.50 ms": 34500 * Microsecond, "12.00 s": 12 * Second} {
		require.Equal(t, want, v.String())
	}
}

func TestBusErrorText(t *testing.T) {
	e := &BusError{Node: 3, Port: "register", Off: 0x30000, Resp: 3}
	require.Equal(t, "node 3: register read at 0x30000: the NIC answered DECERR", e.Error())
}
