package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/registry"
)

// Every key of every scheme says what it means, but those that mixed: knows only to refuse.
func TestKeysAreTold(t *testing.T) {
	for _, b := range registry.Backends() {
		seen := map[string]bool{}
		for _, k := range b.Keys {
			require.False(t, seen[k.Name], "%s: %s stands twice", b.Scheme, k.Name)
			seen[k.Name] = true
			if b.Scheme == "mixed" && k.Doc == "" {
				continue
			}
			require.NotEmpty(t, k.Value, "%s:?%s", b.Scheme, k.Name)
			require.NotEmpty(t, k.Doc, "%s:?%s", b.Scheme, k.Name)
		}
	}
}

func TestDeviceWords(t *testing.T) {
	require.Len(t, deviceWords("rt"), len(registry.Backends()), "the shell chooses among schemes")
	require.Equal(t, []cobra.Completion{cobra.CompletionWithDesc("rtl:?dims=2x1&random_init=", "registers and memories start with random values, by this seed, instead of zeros")},
		deviceWords("rtl:?dims=2x1&rand"))
	require.Empty(t, deviceWords("nil:?a"))
}
