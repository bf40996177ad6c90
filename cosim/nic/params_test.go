package nic

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A file of parameters is refused, or every parameter is in its range and written back as it was.
func FuzzParams(f *testing.F) {
	rtl := RTL()
	text, err := rtl.Text()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"nic":{"clear":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParseParams(text)
		if err != nil {
			return
		}
		for _, field := range p.Fields() {
			require.Positive(t, field.Value(), field.Name)
		}
		written, err := p.Text()
		require.NoError(t, err)
		again, err := ParseParams(written)
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}
