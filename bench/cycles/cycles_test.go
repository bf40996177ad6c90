package cycles

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestRoundTrip(t *testing.T) {
	b, err := Parse("# comment\nrtl:\tvelo/kinds\t351\tfirst\n\nmodel:\tvelo/kinds\t261\tfirst\n")
	require.NoError(t, err)
	e, ok := b.Find("rtl:", "velo/kinds")
	require.True(t, ok)
	require.Equal(t, Entry{"rtl:", "velo/kinds", 351, "first"}, e)
	_, ok = b.Find("ideal:", "velo/kinds")
	require.False(t, ok)
	require.False(t, b.Set(Entry{"rtl:", "velo/kinds", 351, "again"}), "the reason of the last change stays")
	require.True(t, b.Set(Entry{"rtl:", "velo/kinds", 352, "one\tmore\nstage"}))
	var text strings.Builder
	require.NoError(t, b.Write(&text))
	require.Equal(t, head+"model:\tvelo/kinds\t261\tfirst\nrtl:\tvelo/kinds\t352\tone more stage\n", text.String())
	again, err := Parse(text.String())
	require.NoError(t, err)
	require.Equal(t, b.Entries(), again.Entries())
}

func TestParseRejects(t *testing.T) {
	for text, want := range map[string]string{
		"rtl: velo/kinds 3 x":          "expected kind, test, cycles and reason",
		"rtl:\tvelo/kinds\t3\t":        "expected kind, test, cycles and reason",
		"rtl:\tvelo/kinds\tthree\tx":   `cycles "three"`,
		"rtl:\tvelo/kinds\t0\tx":       `cycles "0"`,
		"rtl:\ta\t1\tx\nrtl:\ta\t2\ty": "line 2: a on rtl: is listed twice",
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, drivers.ErrConfig, text)
		require.ErrorContains(t, err, want)
	}
}
