package all

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/registry"
)

// TestEveryBackend: the scheme of every package that registry names in its error is registered.
func TestEveryBackend(t *testing.T) {
	for _, scheme := range registry.KnownSchemes() {
		require.NotContains(t, errorText(registry.Check(scheme+":")), "does not import", scheme)
	}
	require.Len(t, registry.Backends(), len(registry.KnownSchemes()), "registry.KnownSchemes lists every backend")
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
