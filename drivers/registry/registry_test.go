package registry

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestOpenRefusesClearly(t *testing.T) {
	Register(Backend{Scheme: "regtest", Doc: "for this test", Keys: []Key{{Name: "alpha"}, {Name: "beta"}}, Open: func(_ context.Context, path string, keys map[string]string, _ drivers.Options) (drivers.System, error) {
		require.Equal(t, "PATH", path)
		require.Equal(t, map[string]string{"alpha": "1"}, keys)
		return nil, nil
	}})
	t.Cleanup(func() { backends = nil })
	_, err := Open(context.Background(), "regtest:PATH?alpha=1", drivers.Options{})
	require.NoError(t, err)
	for uri, want := range map[string]string{
		"regtest":                 "expected SCHEME:",
		"regtset:":                `unknown scheme "regtset", did you mean "regtest:"?`,
		"regtest:?alhpa=1":        `unknown key "alhpa", did you mean "alpha"?`,
		"regtest:?gamma=1":        `unknown key "gamma"; known: alpha beta`,
		"regtest:?alpha=1&alpha=": `key "alpha" is given 2 times`,
		"regtest:?%":              "invalid URL escape",
	} {
		_, err := Open(context.Background(), uri, drivers.Options{})
		require.ErrorIs(t, err, drivers.ErrConfig, uri)
		require.ErrorContains(t, err, want)
	}
	require.Len(t, Backends(), 1)
	require.Equal(t, []string{"alpha", "beta"}, KeyNames(Backends()[0].Keys))
	require.Panics(t, func() { Register(Backend{Scheme: "regtest"}) })
}

// TestUnknownSchemeNamesImport: a program that lacks a backend's import learns which one it is.
func TestUnknownSchemeNamesImport(t *testing.T) {
	_, err := Open(context.Background(), "rtl:", drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, `add import _ "github.com/nicloop/nicloop/cosim/rtl"`)
	require.ErrorContains(t, err, `"github.com/nicloop/nicloop/drivers/all"`)
	_, err = Open(context.Background(), "unknown:", drivers.Options{})
	require.ErrorContains(t, err, `add import _ "github.com/nicloop/nicloop/drivers/all"`)
}
