package ethernet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestParse(t *testing.T) {
	c, err := Parse("ethernet:?mtu=9000&rate=40G&cable=1us&latency=2us&queue=64K&send_buffer=1M&receive_buffer=100000&" +
		"send_cost=1ns&receive_cost=2ns&frame_cost=3ns&loss=1e-3&duplicate=0.1&reorder=0.2&reorder_delay=5us&corrupt=1&" +
		"checksum=off&seed=0x10")
	require.NoError(t, err)
	require.Equal(t, Config{
		MTU: 9000, Rate: 40_000_000_000, Cable: drivers.Microsecond, SwitchLatency: 2 * drivers.Microsecond,
		SwitchQueue: 65536, SendBuffer: 1 << 20, ReceiveBuffer: 100000, SendCost: drivers.Nanosecond,
		ReceiveCost: 2 * drivers.Nanosecond, FrameCost: 3 * drivers.Nanosecond, Loss: 1e-3, Duplicate: 0.1, Reorder: 0.2,
		ReorderDelay: 5 * drivers.Microsecond, Corrupt: 1, NoChecksum: true, Seed: 16,
	}, c)
	for _, text := range []string{"ethernet:", "ethernet:?"} {
		_, err := Parse(text)
		require.NoError(t, err, text)
	}
	for _, text := range []string{
		"", "ethernet", "ether:", "ethernet:x", "ethernet:?mtu", "ethernet:?mtu=1", "ethernet:?mtu=9K", "ethernet:?rate=1000",
		"ethernet:?rate=9999999999T", "ethernet:?loss=2", "ethernet:?loss=NaN", "ethernet:?cable=-1ns", "ethernet:?cable=2h",
		"ethernet:?los=0.1", "ethernet:?checksum=no", "ethernet:?seed=x", "ethernet:?queue=5", "ethernet:?%zz=1",
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, drivers.ErrConfig, text)
	}
	require.Len(t, Keys(), len(keys))
}
