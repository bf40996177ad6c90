package suggest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSome(t *testing.T) {
	names := []string{"RX_PACKETS", "RX_DROPPED", "RX_LEVEL", "RX_STALL", "TX_LEVEL", "MAGIC"}
	require.Equal(t, `, did you mean "RX_PACKETS", "RX_LEVEL" or "RX_STALL"?`, Some("RX_PKT", names, 3))
	require.Equal(t, `, did you mean "MAGIC"?`, Some("magci", names, 3))
	require.Empty(t, Some("0xzz", names, 3))
	require.Empty(t, Some("", nil, 3))
}
