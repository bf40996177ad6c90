package calibrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/cosim/nic"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
)

// modelOf is the device with these parameters.
func modelOf(t *testing.T, p nic.Params) string {
	t.Helper()
	text, err := p.Text()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "params.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return "model:?params=" + file
}

// The measurement finds what the model was given, whichever parameter is another.
func TestFindsWhatIsThere(t *testing.T) {
	p := nic.RTL()
	for i := -1; i < len(p.Fields()); i++ {
		want, name := nic.RTL(), "those of the RTL"
		if i >= 0 {
			f := want.Fields()[i]
			f.Set(f.Value() + 1 + i%3)
			name = f.Name
		}
		t.Run(name, func(t *testing.T) {
			got, err := Measure(context.Background(), &Config{Device: modelOf(t, want)})
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

// The parameters in the tree are those of the RTL in the tree.
func TestCommittedParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	got, err := Measure(context.Background(), &Config{Device: "rtl:", Building: func(what string) { t.Log(what) }})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	require.Equal(t, nic.RTL(), got, "the RTL has changed; look at the difference, then: nicloop calibrate --write cosim/nic/rtl.json")
}

func TestEveryParameterSaysHow(t *testing.T) {
	p := nic.RTL()
	require.Len(t, How, len(p.Fields()))
	for _, f := range p.Fields() {
		require.NotEmpty(t, How[f.Name], f.Name)
	}
}

func TestUnknownDevice(t *testing.T) {
	_, err := Measure(context.Background(), &Config{Device: "nowhere:"})
	require.Error(t, err)
}
